import type { ReactNode } from 'react'
import { Badge, type BadgeIcon, type Tone } from '../parts/badge.tsx'
import { useSetUpWords } from '../words/set-up-words.ts'
import type { State } from './directory.ts'
import type { Outcome } from './run.ts'

type Look = { tone: Tone; icon: BadgeIcon }

const ofStates: Readonly<Record<State, Look>> = {
  off: { tone: 'neutral', icon: 'minus' },
  reading: { tone: 'info', icon: 'loader' },
  looking: { tone: 'info', icon: 'loader' },
  waits: { tone: 'wait', icon: 'hand' },
  failed: { tone: 'bad', icon: 'x' },
  silent: { tone: 'wait', icon: 'clock' },
  inOrder: { tone: 'ok', icon: 'check' },
}

export function StateBadge({ state }: { state: State }): ReactNode {
  const words = useSetUpWords().directories.states
  return <Badge {...ofStates[state]}>{words[state]}</Badge>
}

const ofOutcomes: Readonly<Record<Outcome, Look>> = {
  waits: { tone: 'info', icon: 'clock' },
  going: { tone: 'info', icon: 'loader' },
  stopped: { tone: 'wait', icon: 'hand' },
  failed: { tone: 'bad', icon: 'x' },
  looked: { tone: 'neutral', icon: 'check' },
  read: { tone: 'ok', icon: 'check' },
}

export function OutcomeBadge({ outcome }: { outcome: Outcome }): ReactNode {
  const words = useSetUpWords().directories.runs.outcomes
  return <Badge {...ofOutcomes[outcome]}>{words[outcome]}</Badge>
}
