/** Whether every number is finite: a sum of x·0 is 0, or NaN from the first that is not. Four sums hide the latency. */
export function allFinite(values: Float32Array | Float64Array, length = values.length): boolean {
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  const whole = length & ~3
  for (let index = 0; index < whole; index += 4) {
    a += values[index] * 0
    b += values[index + 1] * 0
    c += values[index + 2] * 0
    d += values[index + 3] * 0
  }
  for (let index = whole; index < length; index++) a += values[index] * 0
  return a + b + c + d === 0
}

/** First row of `width` that holds a number that is not finite; -1 where there is none. */
export function firstBadRow(values: Float32Array, width: number): number {
  if (allFinite(values)) return -1
  const bad = values.findIndex((value) => !Number.isFinite(value))
  return Math.floor(bad / width)
}

/** As `firstBadRow`, among the rows whose flags are set: the others hold what an earlier episode left. */
export function firstBadFlaggedRow(values: Float32Array, width: number, flags: Uint8Array): number {
  for (let row = 0; row < flags.length; row++) {
    if (flags[row] === 0) continue
    let sum = 0
    for (let index = row * width, end = index + width; index < end; index++) sum += values[index] * 0
    if (sum !== 0) return row
  }
  return -1
}

/**
 * First row whose mask leaves a component without a legal choice, or holds anything but 0 and 1; -1 where there is none.
 * `counts` are the choices of each categorical component, in the order of the mask's columns.
 */
export function firstIllegalMask(
  masks: Uint8Array,
  counts: readonly number[],
  flags: Uint8Array,
  idle: number,
): number {
  let column = 0
  for (let row = 0; row < flags.length; row++) {
    for (const count of counts) {
      let legal = 0
      let strange = 0
      for (let end = column + count; column < end; column++) {
        legal |= masks[column]
        strange |= masks[column] & 0xfe
      }
      if ((legal === 0 || strange !== 0) && (flags[row] & idle) === 0) return row
    }
  }
  return -1
}
