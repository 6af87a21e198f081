import { z } from 'zod'

/** Colors of pictures, by use and by hue. What they look like is up to the theme: light, dark, a terminal. */
export const pictureColors = [
  'ink',
  'dim',
  'line',
  'floor',
  'accent',
  'warning',
  'failure',
  'blue',
  'orange',
  'green',
  'purple',
  'yellow',
] as const
export const pictureColorSchema = z.enum(pictureColors)
export type PictureColor = z.infer<typeof pictureColorSchema>

/** What `render` of a scenario may return. It comes out of a stranger's code, and pages show it. */
export const sceneLimits = {
  shapes: 400,
  /** Corners of a line or a polygon. */
  points: 256,
  textCharacters: 80,
  /** Of a scene on its way out of the sandbox, as JSON. */
  characters: 65_536,
  /** Width, height and the distance of any point from the origin. */
  extent: 1e6,
} as const

const limits = sceneLimits
const coordinate = z.number().gte(-limits.extent).lte(limits.extent)
const length = z.number().gte(0).lte(limits.extent)
const point = z.tuple([coordinate, coordinate])
const color = pictureColorSchema.optional()
/** Only the outline is drawn. */
const outline = z.boolean().optional()

/** A shape in the scene's own units. Default color: ink. */
export const sceneShapeSchema = z.discriminatedUnion('kind', [
  /** An open line through its points; `thickness` in units, by default a hairline. */
  z.strictObject({
    kind: z.literal('line'),
    points: z.array(point).min(2).max(limits.points),
    color,
    thickness: length.optional(),
  }),
  z.strictObject({ kind: z.literal('polygon'), points: z.array(point).min(3).max(limits.points), color, outline }),
  z.strictObject({ kind: z.literal('circle'), x: coordinate, y: coordinate, radius: length, color, outline }),
  /** `x` and `y` are its lowest coordinates. */
  z.strictObject({
    kind: z.literal('rect'),
    x: coordinate,
    y: coordinate,
    width: length,
    height: length,
    color,
    outline,
  }),
  /** `x` and `y` are where its baseline begins, or its middle with `align: "middle"`, or its end. */
  z.strictObject({
    kind: z.literal('text'),
    x: coordinate,
    y: coordinate,
    text: z
      .string()
      .max(limits.textCharacters)
      .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), 'must not contain control characters'),
    color,
    align: z.enum(['start', 'middle', 'end']).optional(),
  }),
])
export type SceneShape = z.infer<typeof sceneShapeSchema>

export const sceneFields = {
  width: length.gt(0),
  height: length.gt(0),
  /** Direction in which `y` grows. Default: down, as on a screen. */
  y: z.enum(['down', 'up']).optional(),
}

/** A moment of an episode as shapes. */
export const sceneSchema = z.strictObject({
  ...sceneFields,
  shapes: z.array(sceneShapeSchema).max(limits.shapes),
})
export type Scene = z.infer<typeof sceneSchema>
