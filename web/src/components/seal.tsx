import { Icon } from './icon.tsx'

/** The mark of what was run again and signed: the signature's first characters, leading to who ran what, and when. */
export function Seal({ signature, href }: { signature: string; href: string }) {
  return (
    <a class="seal" href={href} title="Run again by this marketplace on held-out seeds, and signed">
      <Icon name="badge-check" size={14} />
      <span>Verified</span>
      <code>{signature.slice(0, 8)}</code>
    </a>
  )
}
