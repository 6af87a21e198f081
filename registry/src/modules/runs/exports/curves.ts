/** Learning curves in other formats, also for local runs. Loads neither the database nor the server. */
export { metricsCsv, metricsJsonLines } from './metrics-csv.ts'
export { tensorboardEvents, tensorboardFileName } from './tensorboard-events.ts'
