import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useMemo, useState } from 'react'
import type { Tagged } from '../api/tagged.ts'
import { useAct } from '../parts/act.ts'
import { toast } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { Choice } from '../parts/choice.tsx'
import { Form } from '../parts/form.tsx'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { Card, Section } from '../parts/page.tsx'
import { Select } from '../parts/select.tsx'
import { makeFormats } from '../time/formats.ts'
import { useTick } from '../time/ticks.ts'
import { useWords } from '../words/words.ts'
import { ActProblem } from './act-problem.tsx'
import { zoneOfDevice } from './device.ts'
import { useMe } from './me.ts'
import { changesIn, languageName, offeredLanguages, type Preferences, previewed, zonesByRegion } from './preferences.ts'
import { preferencesQuery, savePreferences } from './queries.ts'

/** How the person reads words and times: what they have not chosen follows their organization, device or language. */
export function PreferencesSection(): ReactNode {
  const words = useWords().me.preferences
  const { data, error, refetch } = useQuery(preferencesQuery)
  return (
    <Section title={words.title}>
      <Card>
        {data !== undefined && <PreferencesForm stored={data} />}
        {data === undefined && (error === null ? <Loading /> : <LoadFailure error={error} retry={refetch} />)}
      </Card>
    </Section>
  )
}

function PreferencesForm({ stored: { record, tag } }: { stored: Tagged<Preferences> }): ReactNode {
  const words = useWords().me.preferences
  const queries = useQueryClient()
  const act = useAct()
  const [edited, setEdited] = useState<Partial<Preferences>>({})
  const choice: Preferences = { ...record, ...edited }
  const edit = (change: Partial<Preferences>) => setEdited((before) => ({ ...before, ...change }))

  const save = async () => {
    const isSaved = await act.run(() => savePreferences(changesIn(record, choice), tag))
    await queries.invalidateQueries({ queryKey: ['me'] })
    if (!isSaved) return
    setEdited({})
    toast(({ me }) => me.preferences.saved)
  }
  return (
    <Form className="grid gap-4" submit={save}>
      <div className="grid items-start gap-4 md:grid-cols-2">
        <Language value={choice.locale} set={record.locale} onChange={(locale) => edit({ locale })} />
        <Zone value={choice.timezone} set={record.timezone} onChange={(timezone) => edit({ timezone })} />
        <Choice
          label={words.dateFormat}
          value={choice.date_format ?? ''}
          options={[
            { value: '', text: words.asLanguage },
            ...dateFormats.map((format) => ({ value: format, text: format })),
          ]}
          onChange={(value) => edit({ date_format: dateFormats.find((format) => format === value) ?? null })}
        />
        <Choice
          label={words.timeFormat}
          value={choice.time_format ?? ''}
          options={[
            { value: '', text: words.asLanguage },
            { value: '24h', text: words.hours24 },
            { value: '12h', text: words.hours12 },
          ]}
          onChange={(value) => edit({ time_format: value === '24h' || value === '12h' ? value : null })}
        />
      </div>
      <Preview choice={choice} />
      <ActProblem act={act} />
      <div>
        <Button type="submit" look="primary" isPending={act.isPending}>
          {words.save}
        </Button>
      </div>
    </Form>
  )
}

const dateFormats = ['YYYY-MM-DD', 'DD/MM/YYYY', 'MM/DD/YYYY'] as const

type OneProps = { value: string | null; set: string | null; onChange: (value: string | null) => void }

function Language({ value, set, onChange }: OneProps): ReactNode {
  const words = useWords().me.preferences
  const { preferences } = useMe()
  const none = preferences.chosen.includes('locale')
    ? words.asOrganization
    : words.asOrganizationNow(languageName(preferences.locale))
  return (
    <Select
      label={words.language}
      hint={words.languageHint}
      value={value ?? ''}
      options={[
        { value: '', text: none },
        ...offeredLanguages(set).map((tag) => ({ value: tag, text: languageName(tag) })),
      ]}
      onChange={(tag) => onChange(tag || null)}
    />
  )
}

function Zone({ value, set, onChange }: OneProps): ReactNode {
  const words = useWords().me.preferences
  const regions = useMemo(() => zonesByRegion(Intl.supportedValuesOf('timeZone'), set), [set])
  return (
    <Select
      label={words.timezone}
      value={value ?? ''}
      options={[{ value: '', text: words.asDevice(zoneOfDevice()) }]}
      groups={regions.map(({ name, zones }) => ({
        name: name || words.otherZones,
        options: zones.map(({ zone, city }) => ({ value: zone, text: city })),
      }))}
      onChange={(zone) => onChange(zone || null)}
    />
  )
}

/** How a moment looks with the choice. */
function Preview({ choice }: { choice: Preferences }): ReactNode {
  const words = useWords().me.preferences
  const { preferences } = useMe()
  const minute = useTick((seconds) => Math.floor(seconds / 60))
  const shown = previewed(choice, preferences, zoneOfDevice())
  if (shown === undefined) return <p className="text-text-2">{words.previewLater}</p>
  const formats = makeFormats(shown)
  return <p>{words.preview(`${formats.date(minute * 60_000)}, ${formats.time(minute * 60_000)}`)}</p>
}
