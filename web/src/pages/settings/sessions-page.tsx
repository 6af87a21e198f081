import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Form } from '../../components/form.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { SettingsFrame } from './settings-frame.tsx'

export type ListedSession = { id: string; current: boolean; created_at: string; expires_at: string }

/** Browsers that one is logged in with. */
export function SessionsPage({ sessions }: { sessions: ListedSession[] }) {
  return (
    <SettingsFrame>
      <section aria-labelledby="sessions">
        <h2 id="sessions">Browsers that you are logged in with</h2>
        <p class="lead">One that you do not know is best ended, and the password changed.</p>
        <Table
          caption="Sessions"
          rows={sessions}
          columns={[
            {
              title: 'Session',
              heading: true,
              cell: ({ id, current }) => (
                <span class="settings-row">
                  <code>{id.slice(0, 8)}</code>
                  {current && <Badge tone="good">this browser</Badge>}
                </span>
              ),
            },
            { title: 'Logged in', cell: ({ created_at }) => <Time at={created_at} /> },
            { title: 'Ends, if unused', cell: ({ expires_at }) => expires_at.slice(0, 10), wide: true },
            {
              title: 'Action',
              cell: ({ id, current }) =>
                !current && (
                  <Form action="/settings/sessions" look="inline" label={`Session ${id.slice(0, 8)}`}>
                    <Button size="small" look="danger" name="id" value={id}>
                      End
                    </Button>
                  </Form>
                ),
            },
          ]}
        />
        {sessions.some(({ current }) => !current) && (
          <Form action="/settings/sessions" look="inline">
            <Button name="id" value="others">
              End all others
            </Button>
          </Form>
        )}
      </section>
    </SettingsFrame>
  )
}
