/**
 * What look-alike names share, after PyPI's `ultranormalize_name`: lower case, without `.`, `_` and `-`; l and i as 1, o as
 * 0. Two names with one canonical form cannot stand beside each other: the database holds it unique.
 */
export function canonicalName(text: string): string {
  return text.toLowerCase().replace(/[._-]/g, '').replace(/[li]/g, '1').replace(/o/g, '0')
}
