/** Bytes of an unpacked package: more does not fit a page. */
const mostBytes = 256 * 2 ** 20
const block = 512

/**
 * The files of a package by their paths, `dist/scenario.js` and so on. The server has written the tarball itself, in its one
 * form: plain names, regular files, sizes in octal. With the visitor's session, so it is sent to those who may have it.
 */
export async function readPackageFiles(address: string): Promise<Map<string, Uint8Array>> {
  const response = await fetch(address)
  if (!response.ok || response.body === null) throw new Error(`the package was not sent (status ${response.status})`)
  const unpacked = response.body.pipeThrough(new DecompressionStream('gzip'))
  const archive = new Uint8Array(await new Response(unpacked).arrayBuffer())
  if (archive.length > mostBytes) throw new Error('the package is too large for a page')
  return filesOf(archive)
}

function filesOf(archive: Uint8Array): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>()
  for (let at = 0; at + block <= archive.length && archive[at] !== 0; ) {
    const field = (from: number, length: number) => textOf(archive.subarray(at + from, at + from + length))
    const size = Number.parseInt(field(124, 12), 8)
    const prefix = field(345, 155)
    const path = prefix === '' ? field(0, 100) : `${prefix}/${field(0, 100)}`
    if (!Number.isSafeInteger(size) || size < 0) throw new Error('the package cannot be read')
    at += block
    files.set(path.replace(/^package\//, ''), archive.slice(at, at + size))
    at += Math.ceil(size / block) * block
  }
  return files
}

function textOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(0)
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end))
}
