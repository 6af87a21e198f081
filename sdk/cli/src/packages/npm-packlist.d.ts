declare module 'npm-packlist' {
  /** npm's own walk: the paths, relative to `path`, that `npm pack` would put into the tarball. */
  export default function packlist(tree: {
    path: string
    package: Record<string, unknown>
    isProjectRoot: boolean
    edgesOut: Map<string, never>
  }): Promise<string[]>
}
