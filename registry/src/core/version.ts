import manifest from '../../package.json' with { type: 'json' }

/** Version of this program, as its package has it. */
export const version: string = manifest.version
