/** The value of a JSON text; undefined for any other text, such as that of a file whose writing was cut off. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
