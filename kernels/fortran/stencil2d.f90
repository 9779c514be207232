! Five-point relaxation between two planes with a time loop, including one sweep that runs downwards.
! Feature: do loops from 2 to n-1 and with step -1, allocatable arrays (descriptors).
#ifndef N
#ifdef BENCH
#define N 1100
#else
#define N 64
#endif
#endif
#ifndef STEPS
#ifdef BENCH
#define STEPS 150
#else
#define STEPS 6
#endif
#endif
program stencil2d_program
  implicit none
  real(8), allocatable :: p(:, :), q(:, :)
  integer(8) :: started
  allocate (p(N, N), q(N, N))
  call lw_fill(N * N, p, 11)
  call lw_fill(N * N, q, 12)
  call system_clock(started)
  call kernel_stencil2d(p, q)
  call lw_stop(started)
  call lw_report('stencil2d', N * N, p)
contains
  subroutine kernel_stencil2d(p, q)
    real(8), allocatable, intent(inout) :: p(:, :), q(:, :)
    integer :: t, i, j
    do t = 1, STEPS
      do j = 2, N - 1
        do i = 2, N - 1
          q(i, j) = 0.25d0 * (p(i - 1, j) + p(i + 1, j) + p(i, j - 1) + p(i, j + 1))
        end do
      end do
      do j = N - 1, 2, -1
        do i = 2, N - 1
          p(i, j) = 0.5d0 * (p(i, j) + q(i, j))
        end do
      end do
    end do
  end subroutine
  include 'lw_common.inc'
end program
