/** Learning curves in other formats, for runs that are on no server. Loads neither the database nor the server. */
export { metricsCsv, metricsJsonLines } from './metrics-csv.ts'
export { tensorboardEvents, tensorboardFileName } from './tensorboard-events.ts'
