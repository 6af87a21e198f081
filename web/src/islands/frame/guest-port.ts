// Evaluated before everything else in the guest's worker: takes what the worker needs of its realm, and then from the realm
// all that is a browser's. The harness, which is evaluated next, does the same to the language itself.

const scope = self as unknown as { postMessage(message: string): void } & EventTarget

/** Sends a reply to the page. */
export const send = scope.postMessage.bind(scope)

/** Compiles a function from source text. The body is parsed by itself: no text can close it early. */
export const CompiledFunction = Function

const listen = scope.addEventListener.bind(scope)
const later = setTimeout.bind(scope)
const PlainPromise = Promise

/** Resolves once every microtask is done. */
export function nextTurn(): Promise<void> {
  return new PlainPromise((resolve) => later(resolve, 0))
}

/** Calls `handle` with each request of the page. */
export function listenTo(handle: (request: unknown) => void): void {
  listen('message', (event) => handle((event as MessageEvent).data))
}

// What workers inherit: the harness takes the global object's own properties only.
let inherited: object | null = Object.getPrototypeOf(globalThis)
while (inherited !== null && inherited !== Object.prototype) {
  for (const name of Reflect.ownKeys(inherited)) Reflect.deleteProperty(inherited, name)
  inherited = Object.getPrototypeOf(inherited)
}
