import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest()
const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64url')

/** What a key or a browser may say that is not so. */
type Lies = {
  origin?: string
  rpId?: string
  challenge?: string
  type?: string
  /** Whether it verified its user. Default: true. */
  verified?: boolean
  crossOrigin?: boolean
}
type Options = { challenge: string }

/** A security key in software, with the browser around it: ES256, attestation "none". */
export class SoftKey {
  readonly id = base64url(randomBytes(24))
  /** That it reports with its next signature; 0 for a key that does not count. */
  count: number
  readonly #origin: string
  readonly #secret: KeyObject
  readonly #public: { x: Buffer; y: Buffer }

  constructor(origin: string, { count = 0 }: { count?: number } = {}) {
    this.#origin = origin
    this.count = count
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    this.#secret = privateKey
    this.#public = { x: Buffer.from(x, 'base64url'), y: Buffer.from(y, 'base64url') }
  }

  /** As `navigator.credentials.create` and `toJSON`. */
  create(options: Options, lies: Lies = {}) {
    const id = Buffer.from(this.id, 'base64url')
    const { x, y } = this.#public
    // COSE: {1: EC2, 3: ES256, -1: P-256, -2: x, -3: y}.
    const key = Buffer.concat([Buffer.from('a5010203262001215820', 'hex'), x, Buffer.from('225820', 'hex'), y])
    const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key])
    const data = Buffer.concat([this.#header(0x40, lies), credential])
    // CBOR: {"fmt": "none", "attStmt": {}, "authData": data}.
    const attestation = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746159', 'hex'),
      Buffer.from([data.length >> 8, data.length & 255]),
      data,
    ])
    return this.#answer({
      clientDataJSON: base64url(this.#client('webauthn.create', options, lies)),
      attestationObject: base64url(attestation),
      transports: ['usb', 'from-the-future'],
    })
  }

  /** As `navigator.credentials.get` and `toJSON`. */
  get(options: Options, lies: Lies = {}) {
    const client = this.#client('webauthn.get', options, lies)
    const data = this.#header(0, lies)
    const signature = sign('sha256', Buffer.concat([data, sha256(client)]), this.#secret)
    return this.#answer({
      clientDataJSON: base64url(client),
      authenticatorData: base64url(data),
      signature: base64url(signature),
    })
  }

  #answer<Response>(response: Response) {
    return { id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {}, response }
  }

  #client(type: string, options: Options, lies: Lies): string {
    const { origin = this.#origin, challenge = options.challenge, crossOrigin = false } = lies
    return JSON.stringify({ type: lies.type ?? type, challenge, origin, crossOrigin })
  }

  #header(flags: number, { rpId = new URL(this.#origin).hostname, verified = true }: Lies): Buffer {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(this.count)
    return Buffer.concat([sha256(rpId), Buffer.from([flags | 0x01 | (verified ? 0x04 : 0)]), count])
  }
}
