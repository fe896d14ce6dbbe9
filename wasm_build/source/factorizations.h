/* Factorizations of one matrix, for real or complex numbers: linalg.c includes this file twice.
 *
 * Before including, define: NUMBER, the type of an element; WORDS, the floats that store one;
 * OF(name), the name for this type; REAL(x), CONJUGATE(x), SQUARED(x) = |x|**2; READ(from),
 * WRITE(to, x) between floats and elements. Everything is computed in double, so that the results
 * are as good as float32 can hold, and that squaring a matrix (for its singular values) loses
 * nothing that counts.
 *
 * Matrices are row-major unless called `columns`, which are column-major.
 */

static void OF(read)(NUMBER *to, const float *from, int count) {
  for (int i = 0; i < count; i++) to[i] = READ(from + WORDS * i);
}
static void OF(write)(float *to, const NUMBER *from, int count) {
  for (int i = 0; i < count; i++) WRITE(to + WORDS * i, from[i]);
}
/* The transpose of (rows, columns). */
static void OF(read_transposed)(NUMBER *to, const float *from, int rows, int columns) {
  for (int j = 0; j < columns; j++)
    for (int i = 0; i < rows; i++) to[j * rows + i] = READ(from + WORDS * (i * columns + j));
}
static void OF(write_transposed)(float *to, const NUMBER *from, int rows, int columns) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) WRITE(to + WORDS * (i * columns + j), from[j * rows + i]);
}

/* Sum of conjugated x times y. */
static NUMBER OF(inner)(const NUMBER *x, const NUMBER *y, int count) {
  NUMBER sum = 0;
  for (int i = 0; i < count; i++) sum += CONJUGATE(x[i]) * y[i];
  return sum;
}
static void OF(exchange)(NUMBER *x, NUMBER *y, int count) {
  for (int i = 0; i < count; i++) {
    NUMBER first = x[i];
    x[i] = y[i];
    y[i] = first;
  }
}
static void OF(add_multiple)(NUMBER *to, NUMBER factor, const NUMBER *x, int count) {
  for (int i = 0; i < count; i++) to[i] += factor * x[i];
}

/* -- Cholesky -------------------------------------------------------------------------------- */

/* a = L L*, from the lower triangle; returns 0 where a is not positive definite. */
static int OF(factor_cholesky)(NUMBER *a, int n) {
  for (int i = 0; i < n; i++) {
    NUMBER *row = a + i * n;
    for (int j = 0; j < i; j++) {
      const NUMBER *other = a + j * n;
      row[j] = (row[j] - CONJUGATE(OF(inner)(row, other, j))) / other[j];
    }
    double rest = REAL(row[i]) - REAL(OF(inner)(row, row, i));
    if (!(rest > 0)) return 0;
    row[i] = __builtin_sqrt(rest);
    for (int j = i + 1; j < n; j++) row[j] = 0;
  }
  return 1;
}

/* -- LU -------------------------------------------------------------------------------------- */

/* P a = L U in place; order[i] is the row that became row i. Returns the permutation's sign, or 0
 * where a is singular. */
static int OF(factor_lu)(NUMBER *a, int *order, int n) {
  int sign = 1;
  for (int i = 0; i < n; i++) order[i] = i;
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++)
      if (SQUARED(a[i * n + k]) > SQUARED(a[best * n + k])) best = i;
    NUMBER pivot = a[best * n + k];
    if (!(SQUARED(pivot) > 0)) return 0; /* NaN too */
    if (best != k) {
      OF(exchange)(a + k * n, a + best * n, n);
      int row = order[k];
      order[k] = order[best];
      order[best] = row;
      sign = -sign;
    }
    for (int i = k + 1; i < n; i++) {
      NUMBER factor = a[i * n + k] / pivot;
      a[i * n + k] = factor;
      OF(add_multiple)(a + i * n + k + 1, -factor, a + k * n + k + 1, n - k - 1);
    }
  }
  return sign;
}

/* x = a**-1 b for b of (n, m), from factor_lu. */
static void OF(substitute)(const NUMBER *a, const int *order, const NUMBER *b, NUMBER *x, int n,
                           int m) {
  for (int i = 0; i < n; i++) {
    NUMBER *row = x + i * m;
    __builtin_memcpy(row, b + order[i] * m, m * sizeof(NUMBER));
    for (int k = 0; k < i; k++) OF(add_multiple)(row, -a[i * n + k], x + k * m, m);
  }
  for (int i = n - 1; i >= 0; i--) {
    NUMBER *row = x + i * m;
    for (int k = i + 1; k < n; k++) OF(add_multiple)(row, -a[i * n + k], x + k * m, m);
    NUMBER inverse = 1.0 / a[i * n + i];
    for (int j = 0; j < m; j++) row[j] *= inverse;
  }
}

/* -- Householder reflections ----------------------------------------------------------------- */

/* H = 1 - tau v v*, with v[0] = 1, such that H* x = (beta, 0, …) with beta real; x becomes
 * (beta, v[1], …). Signs are those of LAPACK. Returns tau. */
static NUMBER OF(reflect)(NUMBER *x, int count) {
  double rest = REAL(OF(inner)(x + 1, x + 1, count - 1));
  NUMBER alpha = x[0];
  if (rest == 0 && REAL(alpha) * REAL(alpha) == SQUARED(alpha)) return 0;
  double beta = -__builtin_copysign(__builtin_sqrt(SQUARED(alpha) + rest), REAL(alpha));
  NUMBER scale = 1.0 / (alpha - beta);
  for (int i = 1; i < count; i++) x[i] *= scale;
  x[0] = beta;
  return (beta - alpha) / beta;
}

/* x -= tau v (v* x), where v[0] counts as 1. */
static void OF(apply_reflection)(NUMBER *x, NUMBER tau, const NUMBER *v, int count) {
  NUMBER product = tau * (x[0] + OF(inner)(v + 1, x + 1, count - 1));
  x[0] -= product;
  OF(add_multiple)(x + 1, -product, v + 1, count - 1);
}

/* Columns (m long, n of them) become R above and on the diagonal, and the reflections below. */
static void OF(factor_qr)(NUMBER *columns, NUMBER *taus, int m, int n) {
  for (int k = 0; k < n && k < m; k++) {
    NUMBER *v = columns + k * m + k;
    taus[k] = OF(reflect)(v, m - k);
    for (int j = k + 1; j < n; j++)
      OF(apply_reflection)(columns + j * m + k, CONJUGATE(taus[k]), v, m - k);
  }
}

/* The first `count` columns of Q, from `reflections` reflections of factor_qr. */
static void OF(form_q)(const NUMBER *columns, const NUMBER *taus, NUMBER *q, int m, int reflections,
                       int count) {
  for (int j = 0; j < count; j++) {
    NUMBER *x = q + j * m;
    __builtin_memset(x, 0, m * sizeof(NUMBER));
    x[j] = 1;
    for (int k = reflections - 1; k >= 0; k--)
      OF(apply_reflection)(x + k, taus[k], columns + k * m + k, m - k);
  }
}

/* -- eigenvalues ----------------------------------------------------------------------------- */

/* a, of which the lower triangle counts, becomes tridiagonal: `diagonal`, `beside`; the reflections
 * stay below the diagonal of `a`. */
static void OF(tridiagonalize)(NUMBER *a, NUMBER *taus, double *diagonal, double *beside,
                               NUMBER *column, NUMBER *w, int n) {
  for (int k = 0; k < n - 1; k++) {
    int count = n - 1 - k;
    for (int i = 0; i < count; i++) column[i] = a[(k + 1 + i) * n + k];
    NUMBER tau = OF(reflect)(column, count);
    taus[k] = tau;
    diagonal[k] = REAL(a[k * n + k]);
    beside[k] = REAL(column[0]);
    column[0] = 1;
    NUMBER *block = a + (k + 1) * (n + 1);
    /* w = tau B v with B given by its lower triangle */
    for (int i = 0; i < count; i++) w[i] = 0;
    for (int i = 0; i < count; i++) {
      const NUMBER *row = block + i * n;
      NUMBER sum = REAL(row[i]) * column[i];
      for (int j = 0; j < i; j++) {
        sum += row[j] * column[j];
        w[j] += CONJUGATE(row[j]) * column[i];
      }
      w[i] += sum;
    }
    for (int i = 0; i < count; i++) w[i] *= tau;
    OF(add_multiple)(w, -0.5 * tau * OF(inner)(w, column, count), column, count);
    /* B -= v w* + w v* */
    for (int i = 0; i < count; i++) {
      NUMBER *row = block + i * n;
      for (int j = 0; j <= i; j++)
        row[j] -= column[i] * CONJUGATE(w[j]) + w[i] * CONJUGATE(column[j]);
    }
    for (int i = 1; i < count; i++) a[(k + 1 + i) * n + k] = column[i];
  }
  diagonal[n - 1] = REAL(a[n * n - 1]);
  beside[n - 1] = 0;
}

/* Eigenvalues, ascending, and eigenvectors as rows (columns of the matrix V) of a Hermitian matrix.
 * Returns 0 where the iteration does not converge (NaN). `spare` holds 3 n numbers. */
static int OF(find_eigenvectors)(NUMBER *a, double *values, NUMBER *vectors, double *beside,
                                 NUMBER *spare, int n) {
  NUMBER *taus = spare, *column = spare + n, *w = spare + 2 * n;
  OF(tridiagonalize)(a, taus, values, beside, column, w, n);
  /* Rows of `vectors` are columns of Q = H1 H2 …, which fixes the first axis. */
  for (int j = 0; j < n; j++) {
    NUMBER *x = vectors + j * n;
    __builtin_memset(x, 0, n * sizeof(NUMBER));
    x[j] = 1;
  }
  for (int k = n - 2; k >= 0; k--) {
    int count = n - 1 - k;
    for (int i = 1; i < count; i++) column[i] = a[(k + 1 + i) * n + k];
    for (int j = k + 1; j < n; j++)
      OF(apply_reflection)(vectors + j * n + k + 1, taus[k], column, count);
  }
  /* Implicit QL with Wilkinson's shifts (EISPACK's imtql2). */
  for (int l = 0; l < n; l++) {
    for (int turn = 0;; turn++) {
      int m = l;
      for (; m < n - 1; m++) {
        double size = __builtin_fabs(values[m]) + __builtin_fabs(values[m + 1]);
        if (__builtin_fabs(beside[m]) <= 0x1p-53 * size) break;
      }
      if (m == l) break;
      if (turn == 60) return 0;
      double g = (values[l + 1] - values[l]) / (2 * beside[l]);
      g = values[m] - values[l] +
          beside[l] / (g + __builtin_copysign(__builtin_sqrt(g * g + 1), g));
      double s = 1, c = 1, p = 0;
      int i = m - 1;
      for (; i >= l; i--) {
        double f = s * beside[i], b = c * beside[i], r = __builtin_sqrt(f * f + g * g);
        beside[i + 1] = r;
        if (r == 0) {
          values[i + 1] -= p;
          beside[m] = 0;
          break;
        }
        s = f / r;
        c = g / r;
        g = values[i + 1] - p;
        r = (values[i] - g) * s + 2 * c * b;
        p = s * r;
        values[i + 1] = g + p;
        g = c * r - b;
        NUMBER *x = vectors + i * n, *y = x + n;
        for (int k = 0; k < n; k++) {
          NUMBER lower = y[k];
          y[k] = s * x[k] + c * lower;
          x[k] = c * x[k] - s * lower;
        }
      }
      if (i >= l) continue;
      values[l] -= p;
      beside[l] = g;
      beside[m] = 0;
    }
  }
  for (int i = 0; i < n; i++) {
    int smallest = i;
    for (int j = i + 1; j < n; j++)
      if (values[j] < values[smallest]) smallest = j;
    if (smallest == i) continue;
    double value = values[i];
    values[i] = values[smallest];
    values[smallest] = value;
    OF(exchange)(vectors + i * n, vectors + smallest * n, n);
  }
  return 1;
}

/* -- the kernels ----------------------------------------------------------------------------- */

static void OF(fill_nan)(float *to, int count) {
  for (int i = 0; i < count; i++) to[i] = VNAN;
}

/* x, out: (batch, n, n); work: n n numbers. */
static void OF(cholesky_batch)(const float *x, float *out, NUMBER *work, int batch, int n) {
  int size = n * n * WORDS;
  for (; batch--; x += size, out += size) {
    OF(read)(work, x, n * n);
    if (OF(factor_cholesky)(work, n)) OF(write)(out, work, n * n);
    else OF(fill_nan)(out, size);
  }
}

/* a: (batch, n, n); b, out: (batch, n, m); work: n n + 2 n m numbers, then n ints. */
static void OF(solve_batch)(const float *a, const float *b, float *out, NUMBER *work, int batch,
                            int n, int m) {
  NUMBER *right = work + n * n, *x = right + n * m;
  int *order = (int *)(x + n * m), size = n * m * WORDS;
  for (; batch--; a += n * n * WORDS, b += size, out += size) {
    OF(read)(work, a, n * n);
    OF(read)(right, b, n * m);
    if (OF(factor_lu)(work, order, n)) {
      OF(substitute)(work, order, right, x, n, m);
      OF(write)(out, x, n * m);
    } else {
      OF(fill_nan)(out, size);
    }
  }
}

/* x: (batch, n, n); out: (batch, WORDS + 1), the sign and the logarithm of the size, or
 * (batch, WORDS) the determinant; work: n n numbers, then n ints. */
static void OF(determinant_batch)(const float *x, float *out, NUMBER *work, int batch, int n,
                                  int logarithm) {
  int *order = (int *)(work + n * n);
  for (; batch--; x += n * n * WORDS) {
    OF(read)(work, x, n * n);
    NUMBER sign = OF(factor_lu)(work, order, n);
    /* A zero pivot ends the factorization; NaN there makes the determinant NaN. */
    if (REAL(sign) == 0)
      for (int i = 0; i < n * n; i++) sign += 0 * work[i];
    double size = 1, scale = 0; /* |det| = size exp(scale) */
    for (int i = 0; i < n && SQUARED(sign) > 0; i++) {
      double length = __builtin_sqrt(SQUARED(work[i * (n + 1)]));
      sign *= work[i * (n + 1)] / length;
      size *= length;
      if (logarithm || size > 1e100 || size < 1e-100) {
        scale += logarithm_of(size);
        size = 1;
      }
    }
    if (logarithm) {
      WRITE(out, sign);
      out[WORDS] = SQUARED(sign) == 0 ? -VINF : sign == sign ? (float)scale : VNAN;
      out += WORDS + 1;
    } else {
      WRITE(out, sign * size * exponential_of(scale));
      out += WORDS;
    }
  }
}

/* x: (batch, m, n); out: (batch, m k + k n), Q and R, k = full ? m : min(m, n);
 * work: m n + k m + n numbers. */
static void OF(qr_batch)(const float *x, float *out, NUMBER *work, int batch, int m, int n,
                         int full) {
  int minimum = m < n ? m : n, k = full ? m : minimum;
  NUMBER *q = work + m * n, *taus = q + k * m;
  for (; batch--; x += m * n * WORDS) {
    OF(read_transposed)(work, x, m, n);
    OF(factor_qr)(work, taus, m, n);
    OF(form_q)(work, taus, q, m, minimum, k);
    OF(write_transposed)(out, q, m, k);
    out += m * k * WORDS;
    for (int i = 0; i < k; i++)
      for (int j = 0; j < n; j++, out += WORDS) WRITE(out, j < i ? 0 : work[j * m + i]);
  }
}

/* x: (batch, n, n); out: (batch, n floats and n n numbers), values and vectors;
 * work: 2 n n + 3 n numbers, then 2 n doubles. */
static void OF(eigh_batch)(const float *x, float *out, NUMBER *work, int batch, int n) {
  NUMBER *vectors = work + n * n, *spare = vectors + n * n;
  double *values = (double *)(spare + 3 * n), *beside = values + n;
  for (; batch--; x += n * n * WORDS, out += n + n * n * WORDS) {
    OF(read)(work, x, n * n);
    if (OF(find_eigenvectors)(work, values, vectors, beside, spare, n)) {
      for (int i = 0; i < n; i++) out[i] = (float)values[i];
      OF(write_transposed)(out + n, vectors, n, n);
    } else {
      OF(fill_nan)(out, n + n * n * WORDS);
    }
  }
}

/* x: (batch, m, n); out: (batch, k floats, m p and q n numbers), singular values, U and V*, with
 * k = min(m, n) and p, q = full ? m, n : k, k;
 * work: m n (twice) + k k (twice) + max(m, n)**2 + 4 max(m, n) numbers, then 2 k doubles.
 *
 * With a tall (its conjugate transpose where it is wide): the eigenvectors of a* a are V, and a V
 * has orthogonal columns, of which a QR factorization makes U, orthonormal whatever the rank. In
 * double the square's error is far below float32's. */
static void OF(svd_batch)(const float *x, float *out, NUMBER *work, int batch, int m, int n,
                          int full) {
  int wide = m < n, rows = wide ? n : m, k = wide ? m : n, count = full ? rows : k;
  NUMBER *columns = work, *product = columns + rows * k, *square = product + rows * k;
  NUMBER *right = square + k * k, *left = right + k * k, *spare = left + rows * rows;
  double *values = (double *)(spare + 4 * rows), *beside = values + k;
  int left_size = rows * count * WORDS, right_size = k * k * WORDS;
  for (; batch--; x += m * n * WORDS, out += k + left_size + right_size) {
    if (wide) {
      OF(read)(columns, x, m * n);
      for (int i = 0; i < m * n; i++) columns[i] = CONJUGATE(columns[i]);
    } else {
      OF(read_transposed)(columns, x, m, n);
    }
    for (int i = 0; i < k; i++)
      for (int j = 0; j <= i; j++)
        square[i * k + j] = OF(inner)(columns + i * rows, columns + j * rows, rows);
    if (!OF(find_eigenvectors)(square, values, right, beside, spare, k)) {
      OF(fill_nan)(out, k + left_size + right_size);
      continue;
    }
    for (int i = 0; 2 * i < k - 1; i++) OF(exchange)(right + i * k, right + (k - 1 - i) * k, k);
    for (int j = 0; j < k; j++) {
      NUMBER *to = product + j * rows;
      __builtin_memset(to, 0, rows * sizeof(NUMBER));
      for (int i = 0; i < k; i++)
        OF(add_multiple)(to, right[j * k + i], columns + i * rows, rows);
    }
    OF(factor_qr)(product, spare, rows, k);
    OF(form_q)(product, spare, left, rows, k, count);
    for (int j = 0; j < k; j++) {
      double value = REAL(product[j * rows + j]);
      if (value < 0)
        for (int i = 0; i < rows; i++) left[j * rows + i] = -left[j * rows + i];
      values[j] = __builtin_fabs(value);
      /* What was below the square's error may come out of order. */
      for (int i = j; i > 0 && values[i] > values[i - 1]; i--) {
        value = values[i];
        values[i] = values[i - 1];
        values[i - 1] = value;
        OF(exchange)(left + i * rows, left + (i - 1) * rows, rows);
        OF(exchange)(right + i * k, right + (i - 1) * k, k);
      }
    }
    for (int i = 0; i < k; i++) out[i] = (float)values[i];
    float *u = out + k, *v = u + (wide ? right_size : left_size);
    if (wide) {
      /* a* = left S right*, so a = right S left* */
      OF(write_transposed)(u, right, k, k);
      for (int i = 0; i < rows * count; i++) left[i] = CONJUGATE(left[i]);
      OF(write)(v, left, rows * count);
    } else {
      OF(write_transposed)(u, left, rows, count);
      for (int i = 0; i < k * k; i++) right[i] = CONJUGATE(right[i]);
      OF(write)(v, right, k * k);
    }
  }
}

#undef NUMBER
#undef WORDS
#undef OF
#undef REAL
#undef CONJUGATE
#undef SQUARED
#undef READ
#undef WRITE
