# Helpers that keep each folder's CMakeLists.txt a list of sources.

# The MLIR and LLVM libraries that everything links: two shared libraries in a development build, component archives
# in a static one. Debian's MLIR targets list the shared `LLVM` (some also the shared `MLIR`) in their link interface,
# so a static build rewrites those interfaces: else two copies of LLVM end up in one process.
add_library(FuseOpsMLIR INTERFACE)
if(FUSEOPS_STATIC)
  llvm_map_components_to_libnames(FUSEOPS_LLVM_LIBS core support irreader linker passes target analysis bitreader
    bitwriter ipo transformutils native X86 NVPTX targetparser frontendopenmp option debuginfodwarf lto)
  get_property(mlir_libs GLOBAL PROPERTY MLIR_ALL_LIBS)
  foreach(lib ${mlir_libs} lldELF lldCommon)
    if(TARGET ${lib})
      get_target_property(links ${lib} INTERFACE_LINK_LIBRARIES)
      if(links)
        list(REMOVE_ITEM links LLVM MLIR "")
        list(APPEND links ${FUSEOPS_LLVM_LIBS})
        set_target_properties(${lib} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
      endif()
    endif()
  endforeach()
  # Nor has zlib or zstd to be where the tools run.
  find_library(FUSEOPS_ZLIB libz.a REQUIRED)
  find_library(FUSEOPS_ZSTD libzstd.a REQUIRED)
  foreach(lib LLVMSupport lldELF)
    get_target_property(links ${lib} INTERFACE_LINK_LIBRARIES)
    list(TRANSFORM links REPLACE "^ZLIB::ZLIB$" "${FUSEOPS_ZLIB}")
    list(TRANSFORM links REPLACE "^zstd::libzstd_shared$" "${FUSEOPS_ZSTD}")
    set_target_properties(${lib} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
  endforeach()
  target_link_libraries(FuseOpsMLIR INTERFACE
    MLIROptLib MLIRParser MLIRPass MLIRTransforms MLIRFuncDialect MLIRArithDialect MLIRMathDialect MLIRVectorDialect
    MLIRSCFDialect MLIRControlFlowDialect MLIRUBDialect MLIRGPUDialect MLIRNVVMDialect MLIRLLVMDialect
    MLIRArithTransforms MLIRMathTransforms MLIRVectorTransforms MLIRSCFToControlFlow MLIRVectorToLLVM
    MLIRVectorToLLVMPass MLIRArithToLLVM MLIRMathToLLVM MLIRMathToLibm MLIRFuncToLLVM MLIRControlFlowToLLVM
    MLIRUBToLLVM MLIRNVVMToLLVM MLIRIndexToLLVM MLIRGPUToNVVMTransforms MLIRReconcileUnrealizedCasts MLIRNVVMTarget
    MLIRNVVMToLLVMIRTranslation MLIRLLVMToLLVMIRTranslation MLIRBuiltinToLLVMIRTranslation
    MLIRGPUToLLVMIRTranslation MLIRFuncAllExtensions MLIRTargetLLVMIRExport ${FUSEOPS_LLVM_LIBS})
  target_link_options(FuseOpsMLIR INTERFACE -Wl,--gc-sections -Wl,--as-needed -Wl,--icf=all -Wl,--strip-all
    -static-libstdc++ -static-libgcc)
else()
  target_link_libraries(FuseOpsMLIR INTERFACE MLIR LLVM)
endif()

# One precompiled header for every library that uses MLIR: parsing MLIR's headers is most of a file's compile time.
file(WRITE ${CMAKE_BINARY_DIR}/fuseops_pch.cpp "")
add_library(FuseOpsPCH OBJECT ${CMAKE_BINARY_DIR}/fuseops_pch.cpp)
target_compile_options(FuseOpsPCH PRIVATE -fno-exceptions -Xclang -fno-pch-timestamp)
target_precompile_headers(FuseOpsPCH PRIVATE ${CMAKE_SOURCE_DIR}/cmake/Precompiled.h)

# add_fuseops_library(NAME SOURCES… [DEPENDS tablegen targets…] [LINK_LIBS libraries…])
function(add_fuseops_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_compile_options(${name} PRIVATE -fno-exceptions -Xclang -fno-pch-timestamp)
  target_precompile_headers(${name} REUSE_FROM FuseOpsPCH)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} FuseOpsMLIR)
endfunction()

# add_fuseops_tool(NAME SOURCES… [LINK_LIBS libraries…])
function(add_fuseops_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE -fPIC -fno-exceptions -Xclang -fno-pch-timestamp)
  target_precompile_headers(${name} REUSE_FROM FuseOpsPCH)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} FuseOpsMLIR)
endfunction()
