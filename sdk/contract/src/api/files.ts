import { z } from 'zod'

/** The query of `GET …/files/view` and `…/files/content`. */
export const fileRequestSchema = z.object({
  path: z.string().min(1).max(1_000).describe('As the list of files has it, such as `src/index.ts`.'),
})

/** Why the caller may not read all files; null if they may. */
const refusedSchema = z.object({ code: z.string(), message: z.string() }).nullable()

/** The files of a version. */
export const fileListSchema = z
  .object({
    name: z.string(),
    version: z.string(),
    /** False until the registry has read the tarball, which takes seconds. */
    ready: z.boolean(),
    refused: refusedSchema,
    files: z.array(
      z.object({
        path: z.string(),
        /** Bytes. */
        size: z.int().nonnegative(),
        /** False for binary files, and for texts over 512 KiB. */
        text: z.boolean(),
        /** Whether the caller may read it. */
        readable: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'FileList' })
export type FileList = z.infer<typeof fileListSchema>

/** The beginning of a text file, for a page. */
export const fileViewSchema = z
  .object({
    name: z.string(),
    version: z.string(),
    path: z.string(),
    /** Bytes of the file. */
    size: z.int().nonnegative(),
    /** Lines separated by U+000A; tokens are elements `<span class="tok-…">`, which never span two lines. */
    html: z.string(),
    lines: z.int().positive(),
    /** Lines in `html`. */
    shown_lines: z.int().positive(),
    /** Whether `html` is all of it. */
    complete: z.boolean(),
  })
  .meta({ id: 'FileView' })
export type FileView = z.infer<typeof fileViewSchema>

const fileComparisonSchema = z.object({
  path: z.string(),
  change: z.enum(['added', 'removed', 'modified']),
  /** Bytes; null where the version does not have it. */
  size_before: z.int().nonnegative().nullable(),
  size_after: z.int().nonnegative().nullable(),
  /** Null if it was omitted. */
  hunks: z
    .array(
      z.object({
        /** Line numbers from 1, of the first line in each version. */
        before_line: z.int().nonnegative(),
        after_line: z.int().nonnegative(),
        /** Each begins with a space, `+`, `-`, or `\` for a note about the end of the file. */
        lines: z.array(z.string()),
      }),
    )
    .nullable(),
  omitted: z.enum(['binary', 'too_large']).nullable(),
})
export type FileComparison = z.infer<typeof fileComparisonSchema>

/** What `version` changes in the files of `base`. */
export const versionComparisonSchema = z
  .object({
    name: z.string(),
    version: z.string(),
    base: z.string(),
    /** False until the registry has read both tarballs. */
    ready: z.boolean(),
    refused: refusedSchema,
    files_changed: z.int().nonnegative(),
    /** By path, at most 300; files in `dist` last. */
    files: z.array(fileComparisonSchema),
  })
  .meta({ id: 'VersionComparison' })
export type VersionComparison = z.infer<typeof versionComparisonSchema>
