/** Lucide names its icons' files and describes none of them: an icon is a list of SVG elements. */
declare module 'lucide/dist/esm/icons/*' {
  const icon: [element: string, attributes: Record<string, string>][]
  export default icon
}
