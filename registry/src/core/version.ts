import manifest from '../../package.json' with { type: 'json' }

/** Version of this program, from its package.json. */
export const version: string = manifest.version
