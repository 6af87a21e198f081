/** What publishers see of their packages: views, trials, sales and refunds. */
export { analyticsModule } from './analytics.module.ts'
