import { Refusal, Unreachable } from '@sallyport/client'
import { Bell } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Announcer, toast } from '../parts/announcer.tsx'
import { Badge } from '../parts/badge.tsx'
import { Button, IconButton, type Look } from '../parts/button.tsx'
import { Choice } from '../parts/choice.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Copy } from '../parts/copy.tsx'
import { Countdown, RemainingBar } from '../parts/countdown.tsx'
import { Field } from '../parts/field.tsx'
import { Empty, LoadFailure, Loading } from '../parts/list-states.tsx'
import { Modal } from '../parts/modal.tsx'
import { Card, Page, Section } from '../parts/page.tsx'
import { Notices, Problem } from '../parts/problem.tsx'
import { Select } from '../parts/select.tsx'
import { Quote } from '../requests/sentence.tsx'
import { FormatsContext, makeFormats } from '../time/formats.ts'
import { refused, states } from './states.ts'

const formats = makeFormats({ locale: 'en-US', timezone: 'UTC', date_format: null, time_format: null })
const looks: readonly Look[] = ['primary', 'outline', 'quiet', 'danger']

/** Every part of the console in each of its states, for those who work on it. It calls nothing. */
export function PartsPage(): ReactNode {
  return (
    <FormatsContext value={formats}>
      <Page title="Parts of the console">
        <Buttons />
        <Badges />
        <Fields />
        <Failures />
        <Lists />
        <Times />
        <Over />
      </Page>
      <Announcer />
    </FormatsContext>
  )
}

function Row({ children }: { children: ReactNode }): ReactNode {
  return <div className="flex flex-wrap items-center gap-3">{children}</div>
}

function Buttons(): ReactNode {
  return (
    <Section title="Buttons: at rest, while the act goes on, disabled">
      {looks.map((look) => (
        <Row key={look}>
          <Button look={look}>Approve for 1 h</Button>
          <Button look={look} isPending>
            Approve for 1 h
          </Button>
          <Button look={look} disabled>
            Approve for 1 h
          </Button>
        </Row>
      ))}
      <Row>
        <IconButton label="Notifications">
          <Bell size={16} strokeWidth={1.75} aria-hidden="true" />
        </IconButton>
        <Copy text="psql" label="Copy the psql line" />
        <Copy text="psql" label="Copy the psql line" look="outline" />
        <Copy text="psql" label="Copy the psql line" look="primary" />
      </Row>
    </Section>
  )
}

function Badges(): ReactNode {
  return (
    <Section title="Badges: each state of requests and access">
      <Row>
        {states.map(({ word, tone, icon }) => (
          <Badge key={word} tone={tone} icon={icon}>
            {word}
          </Badge>
        ))}
      </Row>
    </Section>
  )
}

const durations = ['15 min', '30 min', '1 h', '4 h'].map((text) => ({ value: text, text }))

function Fields(): ReactNode {
  const [text, setText] = useState('look at the settlement job')
  const [duration, setDuration] = useState('1 h')
  return (
    <Section title="Fields: with a hint, with an error, of several lines, of choices">
      <Card className="grid gap-4">
        <Field label="Reason" hint="Who decides reads it." value={text} onChange={setText} />
        <Field label="Reason" error="Say why you need it." value="" onChange={setText} />
        <Field label="Note" hint="Required to deny." lines={3} value={text} onChange={setText} />
        <Field label="Name of the organization" value="Acme" disabled onChange={setText} />
        <Choice label="For how long" value={duration} options={durations} onChange={setDuration} />
        <Select
          label="Time zone"
          hint="Every date follows it."
          value="a"
          options={[{ value: 'a', text: 'Follow the organization' }]}
          groups={[{ name: 'Europe', options: [{ value: 'b', text: 'Berlin' }] }]}
          onChange={setText}
        />
      </Card>
    </Section>
  )
}

function Failures(): ReactNode {
  return (
    <Section title="Refusals and failures, where they happen">
      {Object.entries(refused).map(([code, error]) => (
        <Problem key={code} error={new Refusal(error.response, error.body)} />
      ))}
      <Problem error={new Unreachable('no answer')} />
      <Notices notices={['Production is changed by its pipeline. Is something broken? Use emergency access.']} />
      <Quote label="Reason, as written by Dana Lee">
        {'The settlement job hangs, see INC-4711.\nIt must be done before nine.'}
      </Quote>
    </Section>
  )
}

function Lists(): ReactNode {
  return (
    <Section title="Lists: loading, empty, not loaded">
      <Loading />
      <Empty action={<Button>Clear filters</Button>}>Nothing matches.</Empty>
      <LoadFailure error={new Unreachable('no answer')} retry={() => undefined} />
      <LoadFailure error={new Refusal(refused.internal.response, refused.internal.body)} retry={() => undefined} />
    </Section>
  )
}

function Times(): ReactNode {
  const [began] = useState(() => Date.now())
  const at = (minutes: number) => new Date(began + minutes * 60_000).toISOString()
  return (
    <Section title="Time that is left: much, little, none">
      {[200, 42, 4, -1].map((minutes) => (
        <div key={minutes} className="grid max-w-[480px] gap-1">
          <Countdown until={at(minutes)} of="ReadOnlyAccess on payments-prod" />
          <RemainingBar from={at(-20)} until={at(minutes)} />
        </div>
      ))}
    </Section>
  )
}

function Over(): ReactNode {
  const [shown, show] = useState<'dialog' | 'question'>()
  const close = () => show(undefined)
  const fail = () => Promise.reject(new Refusal(refused.conflict.response, refused.conflict.body))
  return (
    <Section title="Above the page">
      <Row>
        <Button onClick={() => show('dialog')}>Show a dialog</Button>
        <Button onClick={() => show('question')}>Show a question</Button>
        <Button onClick={() => toast('Requested. It waits for a decision.')}>Show a line</Button>
      </Row>
      {shown === 'dialog' && (
        <Modal title="Sign in" close={close}>
          <p>The session is over. Sign in to go on.</p>
        </Modal>
      )}
      {shown === 'question' && (
        <Confirm
          title="End ReadOnlyAccess on payments-prod?"
          consequences="It is taken away at its target now. To have it again, you send another request."
          act="End access"
          close={close}
          run={fail}
        />
      )}
    </Section>
  )
}
