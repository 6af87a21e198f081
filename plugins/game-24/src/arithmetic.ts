/** Exact arithmetic of numbers that are not negative. */

/**
 * Not reduced: four numbers of up to 33 keep tops and bottoms below five million, so every product of two is an exact integer of
 * JavaScript, and comparing needs no common divisor.
 */
export type Fraction = { readonly top: number; readonly bottom: number }

export function whole(top: number): Fraction {
  return { top, bottom: 1 }
}

/** Below 0 if a is less, 0 if they are equal. */
export function compare(a: Fraction, b: Fraction): number {
  return a.top * b.bottom - b.top * a.bottom
}

export function isWhole({ top, bottom }: Fraction): boolean {
  return top % bottom === 0
}

/** In lowest terms: "24", "5/3". */
export function format({ top, bottom }: Fraction): string {
  const divisor = greatestDivisor(top, bottom)
  return bottom === divisor ? `${top / divisor}` : `${top / divisor}/${bottom / divisor}`
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b)
}

/** Of a smaller number a and a larger one b. */
export const operators = ['a + b', 'b − a', 'a × b', 'b ÷ a', 'a ÷ b'] as const
export type Operator = (typeof operators)[number]

/**
 * Null for a division by zero. A negative number is never needed: what reaches a positive target through one also reaches it with that
 * difference the other way round.
 */
export function combine(a: Fraction, operator: Operator, b: Fraction): Fraction | null {
  switch (operator) {
    case 'a + b':
      return { top: a.top * b.bottom + b.top * a.bottom, bottom: a.bottom * b.bottom }
    case 'b − a':
      return { top: b.top * a.bottom - a.top * b.bottom, bottom: a.bottom * b.bottom }
    case 'a × b':
      return { top: a.top * b.top, bottom: a.bottom * b.bottom }
    case 'b ÷ a':
      return a.top === 0 ? null : { top: b.top * a.bottom, bottom: b.bottom * a.top }
    case 'a ÷ b':
      return b.top === 0 ? null : { top: a.top * b.bottom, bottom: a.bottom * b.top }
  }
}
