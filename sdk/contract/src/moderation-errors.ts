/** What reviewing and moderating can be refused for: part of the error catalogue. */
export const moderationErrors = {
  review_not_allowed: {
    exit: 1,
    status: 403,
    summary: 'A review is written by those who bought or used the package, and not anew where it was hidden.',
  },
  review_not_found: { exit: 1, status: 404, summary: 'There is no such review that can be seen.' },
  report_not_found: { exit: 1, status: 404, summary: 'There is no such report.' },
  moderation_state_conflict: {
    exit: 1,
    status: 409,
    summary: 'A report is decided already, or a package is not taken down.',
  },
} as const
