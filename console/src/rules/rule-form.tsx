import { useQueryClient } from '@tanstack/react-query'
import { Fragment, type ReactNode, useId, useState } from 'react'
import { ActProblem } from '../me/act-problem.tsx'
import { useAct } from '../parts/act.ts'
import { toast } from '../parts/announcer.tsx'
import { Button } from '../parts/button.tsx'
import { Said } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import { CedarDetails } from './cedar-details.tsx'
import { cedarOf } from './cedar-text.ts'
import { draftOf } from './draft.ts'
import type { Facts } from './facts.ts'
import { GainsLines } from './gains-lines.tsx'
import { type AccessPolicy, type AccessRule, addRule } from './queries.ts'
import { partsOf } from './sentence.ts'
import { SlotControl } from './slots.tsx'
import { type Fault, faultOf, ruleOf, type Slot, type Slots, startingSlots, type Template } from './templates.ts'

type RuleFormProps = {
  template: Template
  policy: AccessPolicy | null
  facts: Facts
  added: (rule: AccessRule) => void
}

/** A rule as one sentence with slots, who gains by it, and the button that adds it. */
export function RuleForm({ template, policy, facts, added }: RuleFormProps): ReactNode {
  const { rules: words } = useSetUpWords()
  const queries = useQueryClient()
  const act = useAct()
  const [slots, setSlots] = useState(() => startingSlots(template, facts))
  const fault = faultOf(template, slots)
  const rule = ruleOf(template, slots)
  const add = async () => {
    if (fault !== undefined) return
    await act.run(async (key) => {
      const made = await addRule(policy, rule, key)
      await queries.invalidateQueries({ queryKey: ['policy'] })
      toast(words.saved)
      added(made)
    }, rule)
  }
  return (
    <div className="grid gap-4">
      <Form className="grid gap-4" submit={add}>
        <Sentence
          template={template}
          slots={slots}
          change={(change) => setSlots((before) => ({ ...before, ...change }))}
          facts={facts}
          fault={fault}
        />
        <p className="sound-width text-text-2">{words.notes[template]}</p>
        <GainsLines draft={fault === undefined ? draftOf(policy, rule) : undefined} template={template} />
        <CedarDetails text={cedarOf(rule)} />
        <div>
          <Button type="submit" isPending={act.isPending}>
            {words.save}
          </Button>
        </div>
      </Form>
      {/* Beside the form: it may ask for a sign-in, which is a form of its own. */}
      <ActProblem act={act} />
    </div>
  )
}

type SentenceProps = {
  template: Template
  slots: Slots
  change: (change: Partial<Slots>) => void
  facts: Facts
  fault: Fault | undefined
}

const faultySlots: Readonly<Record<Fault, Slot>> = { action: 'action', hours: 'until' }

function Sentence({ template, fault, ...props }: SentenceProps): ReactNode {
  const { rules: words } = useSetUpWords()
  const id = useId()
  return (
    // No control is wider than the page, whatever is chosen in it.
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-1">
      <p className="text-sentence leading-10 touch:leading-13">
        {partsOf(words.sentences[template]).map((part) =>
          'slot' in part ? (
            <span key={part.slot} className="whitespace-nowrap">
              <SlotControl
                slot={part.slot}
                faultId={fault !== undefined && faultySlots[fault] === part.slot ? id : undefined}
                {...props}
              />
              {part.marks}
            </span>
          ) : (
            <Fragment key={part.words}>{part.words}</Fragment>
          ),
        )}
      </p>
      {fault !== undefined && (
        <Said id={id} isFault>
          {words.faults[fault]}
        </Said>
      )}
    </div>
  )
}
