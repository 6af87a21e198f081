/** The npm registry at /npm/; the only module that knows Verdaccio. */
export { npmModule } from './npm.module.ts'
