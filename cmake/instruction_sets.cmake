# Files named *_avx2.cpp and *_avx512.cpp are compiled for that instruction set; all others for the baseline.
set(ALATE_FLAGS_avx2 -mavx2 -mfma -mf16c -mbmi -mbmi2 -mlzcnt)
set(ALATE_FLAGS_avx512 ${ALATE_FLAGS_avx2} -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl -mprefer-vector-width=512)

function(alate_set_instruction_set_flags)
  foreach(file ${ARGN})
    foreach(set avx2 avx512)
      if(file MATCHES "_${set}\\.cpp$")
        set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${ALATE_FLAGS_${set}}")
      endif()
    endforeach()
  endforeach()
endfunction()
