! Smooths a volume along its three axes in turn, the worst axis first, over assumed-shape arrays.
! Feature: assumed-shape dummies (strides from a descriptor), loop order against the storage, array-section copy.
#ifndef N
#ifdef BENCH
#define N 170
#else
#define N 24
#endif
#endif
#ifndef STEPS
#ifdef BENCH
#define STEPS 6
#else
#define STEPS 2
#endif
#endif
program smooth3d_program
  implicit none
  real(8), save :: u(N, N, N), v(N, N, N)
  integer(8) :: started
  call lw_fill(N * N * N, u, 21)
  call system_clock(started)
  call kernel_smooth3d(u, v)
  call lw_stop(started)
  call lw_report('smooth3d', N * N * N, u)
contains
  subroutine kernel_smooth3d(u, v)
    real(8), intent(inout) :: u(:, :, :), v(:, :, :)
    integer :: t, i, j, k, m
    m = size(u, 1)
    do t = 1, STEPS
      v(:, :, :) = u(:, :, :)
      do i = 1, m
        do j = 1, m
          do k = 2, m - 1
            v(i, j, k) = 0.25d0 * u(i, j, k - 1) + 0.5d0 * u(i, j, k) + 0.25d0 * u(i, j, k + 1)
          end do
        end do
      end do
      do i = 1, m
        do j = 2, m - 1
          do k = 1, m
            u(i, j, k) = 0.25d0 * v(i, j - 1, k) + 0.5d0 * v(i, j, k) + 0.25d0 * v(i, j + 1, k)
          end do
        end do
      end do
      do i = 2, m - 1
        do j = 1, m
          do k = 1, m
            u(i, j, k) = 0.5d0 * u(i, j, k) + 0.25d0 * (v(i - 1, j, k) + v(i + 1, j, k))
          end do
        end do
      end do
    end do
  end subroutine
  include 'lw_common.inc'
end program
