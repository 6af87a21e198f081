export type PackageTarget = {
  /** `@acme/maze`. */
  name: string
  /** A range, tag or exact version; undefined where none was given. */
  range: string | undefined
}

const pattern = /^(@[^@/\s]+\/[^@/\s]+)(?:@(.*))?$/

/** Reads `@scope/name[@range|tag|version]`; undefined for anything else. Whether the name is allowed is the server's to say. */
export function parsePackageTarget(text: string): PackageTarget | undefined {
  const match = pattern.exec(text.trim())
  if (!match) return undefined
  return { name: match[1], range: match[2]?.trim() || undefined }
}
