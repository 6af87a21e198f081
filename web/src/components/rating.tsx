import { Icon } from './icon.tsx'

/** Mean of the stars that buyers gave, of five, and how many did; nothing before the first. */
export function Rating({ rating, votes }: { rating: number | null; votes: number }) {
  if (rating === null || votes === 0) return null
  return (
    <span class="rating" title={`${rating.toFixed(1)} of 5 stars by ${votes} ${votes === 1 ? 'buyer' : 'buyers'}`}>
      <Icon name="star" size={12} label="Rating" />
      {rating.toFixed(1)}
      <span class="dim">({votes})</span>
    </span>
  )
}
