import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { toast } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { type SetUpWords, useSetUpWords } from '../words/set-up-words.ts'
import { CedarDetails, CedarText } from './cedar-details.tsx'
import { type AccessRule, removeRule } from './queries.ts'
import { type FilledTemplate, readTemplate } from './read-template.ts'
import { partsOf } from './sentence.ts'
import { type Names, sentenceText, slotText } from './slot-texts.ts'

/** The rules that are there, each as its sentence. */
export function RuleList({ rules, names }: { rules: readonly AccessRule[]; names: Names }): ReactNode {
  const words = useSetUpWords()
  const queries = useQueryClient()
  const [question, ask] = useState<Question>()
  const remove = async ({ rule }: Question) => {
    const now = await removeRule(rule)
    if (now === undefined) toast(words.rules.removed)
    else ask({ rule: now, isChanged: true })
    await queries.invalidateQueries({ queryKey: ['policy'] })
  }
  return (
    <>
      <ul className="divide-y divide-line">
        {rules.map((rule) => (
          <RuleRow key={rule.id} rule={rule} names={names} remove={() => ask({ rule, isChanged: false })} />
        ))}
      </ul>
      {question !== undefined && (
        <Confirm
          // Another question begins with the focus on Cancel.
          key={question.rule.updated_at}
          title={question.isChanged ? words.rules.removeChangedTitle : words.rules.removeTitle}
          consequences={consequencesOf(question.rule, names, words)}
          act={words.rules.removeRule}
          // It closes the question that was answered, not the one that follows from the answer.
          close={() => ask((now) => (now === question ? undefined : now))}
          run={() => remove(question)}
        >
          {readTemplate(question.rule) === undefined && <CedarText>{question.rule.policy_text}</CedarText>}
        </Confirm>
      )}
    </>
  )
}

/** Whether to remove a rule as it is shown. `isChanged`: it was asked before, about the rule as it was then. */
type Question = { rule: AccessRule; isChanged: boolean }

type RuleRowProps = { rule: AccessRule; names: Names; remove: () => void }

function RuleRow({ rule, names, remove }: RuleRowProps): ReactNode {
  const words = useSetUpWords()
  const filled = readTemplate(rule)
  const name = filled === undefined ? rule.policy_text : sentenceText(filled.template, filled.slots, names, words)
  return (
    <li className="grid gap-2 py-4 first:pt-0 last:pb-0 sm:grid-cols-[1fr_auto] sm:items-start sm:gap-6">
      <div className="grid min-w-0 gap-1">
        {filled === undefined ? (
          <>
            <p>{words.rules.other}</p>
            <CedarText>{rule.policy_text}</CedarText>
          </>
        ) : (
          <>
            <Sentence filled={filled} names={names} />
            <CedarDetails text={rule.policy_text} />
          </>
        )}
      </div>
      <div>
        <Button aria-label={words.rules.removeNamed(name)} onClick={remove}>
          {words.rules.remove}
        </Button>
      </div>
    </li>
  )
}

function Sentence({ filled: { template, slots }, names }: { filled: FilledTemplate; names: Names }): ReactNode {
  const words = useSetUpWords()
  return (
    <p className="sound-width text-sentence wrap-anywhere">
      {partsOf(words.rules.sentences[template]).map((part) =>
        'slot' in part ? (
          <span key={part.slot}>
            <bdi className={`font-semibold ${part.slot === 'seconds' ? 'whitespace-nowrap' : ''}`}>
              {slotText(part.slot, slots, names, words)}
            </bdi>
            {part.marks}
          </span>
        ) : (
          part.words
        ),
      )}
    </p>
  )
}

function consequencesOf(rule: AccessRule, names: Names, words: SetUpWords): string {
  const { removeConsequences } = words.rules
  const filled = readTemplate(rule)
  if (filled === undefined) return removeConsequences.other
  return removeConsequences[rule.effect](sentenceText(filled.template, filled.slots, names, words))
}
