/** How npm chooses a version; it brings no types. */
declare module 'npm-pick-manifest' {
  type Packument = {
    name: string
    'dist-tags': Record<string, string>
    versions: Record<string, { name: string; version: string; deprecated?: string }>
  }
  export default function pickManifest(packument: Packument, wanted: string): { version: string }
}
