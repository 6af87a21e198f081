/** The npm registry at /npm/; the only module that knows Verdaccio. */

export type { OpenBuiltIn } from './built-in-package.ts'
export { npmModule } from './npm.module.ts'
