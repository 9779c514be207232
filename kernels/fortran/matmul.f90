! Matrix product C = C + A*B on column-major arrays, written in the row-minded order i-j-k.
! Feature: Fortran column-major storage (the contiguous subscript comes first), explicit-shape dummy arguments.
#ifndef N
#ifdef BENCH
#define N 640
#else
#define N 60
#endif
#endif
program matmul_program
  implicit none
  real(8), save :: a(N, N), b(N, N), c(N, N)
  integer(8) :: started
  call lw_fill(N * N, a, 1)
  call lw_fill(N * N, b, 2)
  call lw_fill(N * N, c, 3)
  call system_clock(started)
  call kernel_matmul(N, a, b, c)
  call lw_stop(started)
  call lw_report('matmul', N * N, c)
contains
  subroutine kernel_matmul(m, a, b, c)
    integer, intent(in) :: m
    real(8), intent(in) :: a(m, m), b(m, m)
    real(8), intent(inout) :: c(m, m)
    integer :: i, j, k
    do i = 1, m
      do j = 1, m
        do k = 1, m
          c(i, j) = c(i, j) + a(i, k) * b(k, j)
        end do
      end do
    end do
  end subroutine
  include 'lw_common.inc'
end program
