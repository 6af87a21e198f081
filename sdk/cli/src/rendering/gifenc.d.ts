// The part of gifenc that is used; it ships no types.
declare module 'gifenc' {
  type Palette = [number, number, number][]
  type Encoder = {
    writeFrame(
      pixels: Uint8Array,
      width: number,
      height: number,
      options: {
        palette: Palette
        delay: number
        transparent: boolean
        transparentIndex: number
        dispose: number
      },
    ): void
    finish(): void
    bytes(): Uint8Array
  }
  export function GIFEncoder(): Encoder
  export function quantize(rgba: Uint8Array | Uint8ClampedArray, colors: number): Palette
  export function applyPalette(rgba: Uint8Array | Uint8ClampedArray, palette: Palette): Uint8Array
}
