/**
 * The built-ins that the engine uses, taken when this module loads: before any author's code runs. An author shares
 * the realm and may replace every method and prototype in it; the engine then goes on as before. Rules for all engine
 * code: no method calls on built-ins, no iteration protocol (for-of, spread, array destructuring), no writes to holes
 * of arrays (a setter on Array.prototype would see them), no coercion of unknown values.
 */
const { bind, call } = Function.prototype

type Method<Self, Arguments extends unknown[], Result> = (this: Self, ...rest: Arguments) => Result
type Uncurried<Self, Arguments extends unknown[], Result> = (self: Self, ...rest: Arguments) => Result

/** `uncurryThis(f)(self, ...rest)` is `f.call(self, ...rest)` without looking up `call`. */
export const uncurryThis = bind.bind(call) as unknown as <Self, Arguments extends unknown[], Result>(
  method: Method<Self, Arguments, Result>,
) => Uncurried<Self, Arguments, Result>

export const isArray = Array.isArray as (value: unknown) => value is readonly unknown[]
export const isNaNumber = Number.isNaN as (value: unknown) => boolean
export const isInteger = Number.isInteger as (value: unknown) => value is number
export const { cos, floor, fround, imul, log, max, min, PI, sqrt } = Math
export const objectKeys = Object.keys
export const objectFreeze = Object.freeze
export const objectCreate = Object.create
export const objectHasOwn = Object.hasOwn
const { defineProperty } = Reflect

export const Float32Buffer = Float32Array
export const PlainTypeError = TypeError
export const PlainRangeError = RangeError
const NativePromise = Promise
const promiseThen = uncurryThis(
  Promise.prototype.then as Method<object, [((value: unknown) => void)?, ((reason: unknown) => void)?], unknown>,
)

const arrayWith = uncurryThis(
  Array.prototype.with as Method<readonly boolean[], [index: number, value: boolean], boolean[]>,
)
const NativeMap = Map
const mapGet = uncurryThis(Map.prototype.get as Method<object, [key: string], unknown>)
const mapSet = uncurryThis(Map.prototype.set as Method<object, [key: string, value: unknown], unknown>)

export const charCodeAt = uncurryThis(String.prototype.charCodeAt)
export const stringSlice = uncurryThis(String.prototype.slice)
export const normalizeString = uncurryThis(String.prototype.normalize as Method<string, [form: string], string>)
export const lowerCase = uncurryThis(String.prototype.toLowerCase)
export const wellFormed = uncurryThis(String.prototype.toWellFormed)
export const stringFromCharCode = String.fromCharCode
export const regExpExec = uncurryThis(RegExp.prototype.exec)

const typedArrayPrototype = Object.getPrototypeOf(Float32Array.prototype) as object
const getterOf = (name: string | symbol) =>
  uncurryThis(Object.getOwnPropertyDescriptor(typedArrayPrototype, name)?.get as Method<unknown, [], unknown>)
/** Name of a typed array's kind, undefined for everything else. Runs no author code, whatever the value. */
export const typedArrayName = getterOf(Symbol.toStringTag) as (value: unknown) => string | undefined
const typedArrayLength = getterOf('length') as (value: unknown) => number

/** Length of a real typed array, whatever its prototype says. */
export function lengthOfTypedArray(array: object): number {
  return typedArrayLength(array)
}

function define(target: object, key: PropertyKey, value: unknown, changeable: boolean): void {
  // Without the null prototype, a `get` on Object.prototype would make this another kind of property.
  const descriptor: PropertyDescriptor & { __proto__: null } = {
    __proto__: null,
    value,
    writable: changeable,
    enumerable: true,
    configurable: changeable,
  }
  defineProperty(target, key, descriptor)
}

/** A property as a literal would make it: no setter on a prototype sees it. */
export function defineValue(target: object, key: PropertyKey, value: unknown): void {
  define(target, key, value, true)
}

/** A property that cannot be changed. */
export function defineConstant(target: object, key: PropertyKey, value: unknown): void {
  define(target, key, value, false)
}

/** `array.push(value)` that no setter on a prototype can see. */
export function append<Item>(array: Item[], value: Item): void {
  defineValue(array, array.length, value)
}

/** An array of zeros without holes: its elements can be assigned safely. */
export function zeros(length: number): number[] {
  switch (length) {
    case 1:
      return [0]
    case 2:
      return [0, 0]
    case 3:
      return [0, 0, 0]
    case 4:
      return [0, 0, 0, 0]
    default: {
      const array = [0, 0, 0, 0, 0]
      for (let i = 5; i < length; i += 1) append(array, 0)
      return array
    }
  }
}

const falseLists = nullObject<boolean[]>()

/** A new array of `false` without holes, for every step: a copy costs a hundredth of appending. */
export function falses(length: number): boolean[] {
  if (length === 0) return []
  const made = falseLists[length]
  if (made !== undefined) return arrayWith(made, 0, false)
  const list: boolean[] = []
  for (let i = 0; i < length; i += 1) append(list, false)
  falseLists[length] = list
  return arrayWith(list, 0, false)
}

/** Values by strings, for when there may be many of them. */
export class StringMap<Value> {
  #map: object = new NativeMap()

  get(key: string): Value | undefined {
    return mapGet(this.#map, key) as Value | undefined
  }

  set(key: string, value: Value): void {
    mapSet(this.#map, key, value)
  }

  clear(): void {
    this.#map = new NativeMap()
  }
}

/** Attaches handlers to a promise or thenable of the author's; may throw what the author's `then` getter throws. */
export function whenSettled(
  promise: object,
  onFulfilled: (value: unknown) => void,
  onRejected: (reason: unknown) => void,
): void {
  // The lookup of a promise's species then ends at the intrinsic Promise.
  defineValue(promise, 'constructor', undefined)
  try {
    promiseThen(promise, onFulfilled, onRejected)
    return
  } catch {
    // Not a native promise: the intrinsic Promise adopts it below.
  }
  const adopted = new NativePromise<unknown>((resolve) => resolve(promise))
  defineValue(adopted, 'constructor', undefined)
  promiseThen(adopted, onFulfilled, onRejected)
}

/** An object that inherits nothing: any key may be assigned. */
export function nullObject<Value>(): Record<string, Value> {
  return { __proto__: null } as unknown as Record<string, Value>
}
