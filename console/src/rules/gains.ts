/** Who gains by a rule, in lines. */
import type { Schemas } from '@sallyport/client'
import type { GainsLine } from '../words/english/rules.ts'
import type { SetUpWords } from '../words/set-up-words.ts'
import type { Template } from './templates.ts'

export type Gains = Schemas['Gains']
type Change = Schemas['GainsChange']

const maxLines = 3

/** The lines that say who gains. `from`: the moment from which they hold, where that is not now. */
export function gainsLines(gains: Gains, template: Template, { rules: words }: SetUpWords, from?: string): string[] {
  const { changes, examined } = gains
  const said = words.gains
  const lines = changes.slice(0, maxLines).map((change) => said.change(lineOf(change)))
  const more = changes.length - lines.length
  return [
    ...(from !== undefined && lines.length > 0 ? [said.from(from)] : []),
    ...lines,
    ...(more > 0 ? [said.more(more)] : []),
    ...(lines.length === 0 ? nobody(gains, template, said) : []),
    ...(gains.has_other_resources ? [said.others] : []),
    ...(isCut(gains) ? [hasAll(gains) ? said.cut : said.partly(examined.people, examined.accounts)] : []),
  ]
}

const hasAll = ({ examined, total }: Gains) => examined.people === total.people && examined.accounts === total.accounts

/** Whether there may be more, for another reason than resources that are not listed. */
const isCut = (gains: Gains) => !gains.is_complete && !(gains.has_other_resources && hasAll(gains))

function lineOf({ kind, action, people, accounts, answer, emergency }: Change): GainsLine {
  const named = ({ count, names }: Change['people'] | Change['accounts']) => ({
    count,
    names: names.map(({ name }) => name),
  })
  return {
    ...{ kind, action, people: named(people), accounts: named(accounts) },
    ...{ isAtOnce: answer === 'at_once', isEmergency: emergency },
  }
}

/** Why nobody gains, as far as that is certain. */
function nobody({ total }: Gains, template: Template, said: SetUpWords['rules']['gains']): string[] {
  // It is about nothing that is counted.
  if (template === 'working_hours') return []
  if (total.people === 0) return [said.noPeople]
  if (total.accounts === 0) return [said.noAccounts]
  return [template === 'approval' ? said.noChange : said.nobody]
}
