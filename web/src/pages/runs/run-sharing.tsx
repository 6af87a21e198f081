import type { RunSharing } from '@agentgym/contract'
import type { FormFailure } from '../../app/form.ts'
import { Button, Command } from '../../components/controls.tsx'
import { Form } from '../../components/form.tsx'
import { Notice } from '../../components/messages.tsx'
import { Time } from '../../components/values.tsx'

type RunSharingProps = {
  id: string
  sharing: RunSharing
  /** Address of a link that was just created. */
  link: string | undefined
  failure: FormFailure | null
}

/** Who else may look at a run: those with its link, or everyone. */
export function RunSharingPart({ id, sharing, link, failure }: RunSharingProps) {
  const { public: isPublic, link: known, url } = sharing
  const action = `/runs/${id}/share`
  return (
    <details class="more" id="share" open={link !== undefined || failure !== null}>
      <summary>
        <h2>Share</h2>
      </summary>
      <div class="more-fields">
        <p class="dim">
          Others see the title, settings, metrics and evaluations of this run, not its account, cost, log or files.
        </p>
        {link !== undefined && (
          <>
            <Notice kind="success">Link created. Copy it now: it is not shown again.</Notice>
            <Command text={link} label="Copy link" />
          </>
        )}
        {known !== null && (
          <p>
            A link by {known.created_by} is valid, created <Time at={known.created_at} />.
          </p>
        )}
        <div class="run-actions">
          <Form action={action} look="inline" failure={failure}>
            <input type="hidden" name="action" value="link" />
            <Button>{known === null ? 'Create link' : 'Replace link'}</Button>
          </Form>
          {known !== null && (
            <Form action={action} look="inline">
              <input type="hidden" name="action" value="revoke" />
              <Button look="danger">Revoke link</Button>
            </Form>
          )}
          <Form action={action} look="inline">
            <input type="hidden" name="action" value={isPublic ? 'hide' : 'publish'} />
            <Button>{isPublic ? 'Make private' : 'Make public'}</Button>
          </Form>
        </div>
        {url !== null && (
          <>
            <p>Everyone can see this run:</p>
            <Command text={url} label="Copy address" />
          </>
        )}
      </div>
    </details>
  )
}
