import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import { useMe } from '../me/me.ts'
import { Choice } from '../parts/choice.tsx'
import { EnglishText } from '../parts/english-text.tsx'
import { LoadFailure, Loading } from '../parts/list-states.tsx'
import { Card, Section } from '../parts/page.tsx'
import { sentenceOf } from '../parts/sentence.ts'
import { rehearsalQuery } from '../rehearsal/stand-in-calls.ts'
import { useSetUpWords } from '../words/set-up-words.ts'
import { useFacts } from './facts.ts'
import { type AccessPolicy, accessPoliciesQuery } from './queries.ts'
import { RuleForm } from './rule-form.tsx'
import { RuleList } from './rule-list.tsx'
import { type Template, templates } from './templates.ts'

/** The rules that were made by templates, and the templates. Who may not change rules does not see it. */
export function RulesSection({ title }: { title: string }): ReactNode {
  const { scopes } = useMe()
  const mayChange = scopes.includes('policies:write') && scopes.includes('policies:read')
  return mayChange ? <Rules title={title} /> : null
}

function Rules({ title }: { title: string }): ReactNode {
  const words = useSetUpWords().rules
  const { data, error, refetch } = useQuery(accessPoliciesQuery)
  const facts = useFacts()
  return (
    <Section title={title}>
      <p className="sound-width text-text-2">{words.intro}</p>
      {data !== undefined && facts.isReady && <RulesOf policies={data} facts={facts} />}
      {data === undefined && error !== null && <LoadFailure error={error} retry={refetch} />}
      {facts.error !== undefined && <LoadFailure error={facts.error} retry={facts.retry} />}
      {(data === undefined || !facts.isReady) && error === null && facts.error === undefined && <Loading />}
    </Section>
  )
}

type RulesOfProps = { policies: readonly AccessPolicy[]; facts: ReturnType<typeof useFacts> }

function RulesOf({ policies, facts }: RulesOfProps): ReactNode {
  const words = useSetUpWords().rules
  const rules = policies.flatMap((policy) => policy.rules)
  const isRehearsing = useIsRehearsing()
  const [chosen, choose] = useState<Template | undefined>(rules.length === 0 ? templates[0] : undefined)
  const [warnings, setWarnings] = useState<readonly string[]>([])
  const heading = useRef<HTMLHeadingElement>(null)
  return (
    <>
      {rules.length === 0 ? (
        <p className="text-text-2">
          {words.none} {isRehearsing && words.notOfRehearsal}
        </p>
      ) : (
        <Card>
          <RuleList rules={rules} names={facts.names} />
        </Card>
      )}
      <Warnings warnings={warnings} />
      <Card className="grid gap-4">
        <h3 ref={heading} tabIndex={-1} className="text-body font-semibold">
          {words.add}
        </h3>
        <Choice
          label={words.template}
          value={chosen ?? ''}
          options={templates.map((template) => ({ value: template, text: words.templates[template] }))}
          onChange={(value) => {
            setWarnings([])
            choose(templates.find((template) => template === value))
          }}
        />
        {chosen !== undefined && (
          <RuleForm
            key={chosen}
            template={chosen}
            policy={policies[0] ?? null}
            facts={facts}
            added={(rule) => {
              setWarnings(rule.warnings ?? [])
              choose(undefined)
              // The button that had the focus is gone.
              heading.current?.focus()
            }}
          />
        )}
        {facts.hasMore && <p className="text-meta text-text-2">{words.notAll}</p>}
      </Card>
    </>
  )
}

/** Whether there are rules of a rehearsal, which stand in a policy of their own. */
function useIsRehearsing(): boolean {
  const { tenant, scopes } = useMe()
  const isPossible = tenant.mode === 'rehearsal' && scopes.includes('users:read')
  const { data } = useQuery({ ...rehearsalQuery, enabled: isPossible })
  return isPossible && data?.policy_id != null
}

/** What the service notes about the rule that was just added. */
function Warnings({ warnings }: { warnings: readonly string[] }): ReactNode {
  const words = useSetUpWords().rules
  return (
    // It is there before it says something, so that screen readers read it out.
    <div role="status">
      {warnings.length > 0 && (
        <div className="grid gap-1 rounded-control bg-wait-tint p-3 text-wait">
          <p>{words.warned}</p>
          <ul className="list-disc pl-5">
            {warnings.map((warning) => (
              <li key={warning} className="sound-width wrap-anywhere">
                <EnglishText>{sentenceOf(warning)}</EnglishText>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  )
}
