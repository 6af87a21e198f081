export type { CommandIo, InputStream, OutputStream, ParentProcess } from './command-io.ts'
export { runCommandLine } from './run-command-line.ts'
