subroutine product_fortran(n, a, b, c) bind(c)
  use iso_c_binding
  integer(c_int), value :: n
  real(c_double), intent(in) :: a(n, n), b(n, n)
  real(c_double), intent(inout) :: c(n, n)
  integer :: i, j, k
  ! Columns are contiguous: the transposed matrices, b times a.
  do i = 1, n
    do j = 1, n
      do k = 1, n
        c(j, i) = c(j, i) + b(j, k) * a(k, i)
      end do
    end do
  end do
end subroutine
