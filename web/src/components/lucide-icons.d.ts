/** Lucide's icon files have no types: an icon is a list of SVG elements. */
declare module 'lucide/dist/esm/icons/*' {
  const icon: [element: string, attributes: Record<string, string>][]
  export default icon
}
