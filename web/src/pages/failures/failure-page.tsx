type FailurePageProps = { status: number; title: string; message: string; hint?: string }

/** What failed, why, and how to mend it. */
export function FailurePage({ status, title, message, hint }: FailurePageProps) {
  return (
    <div class="failure-page">
      <p class="failure-page-status">{status}</p>
      <h1>{title}</h1>
      <p class="lead">{message}</p>
      {hint !== undefined && <p>{hint}</p>}
    </div>
  )
}
