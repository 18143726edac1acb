import type { ReactNode } from 'react'
import { Badge } from '../parts/badge.tsx'
import type { State } from '../requests/request.ts'
import { useWords } from '../words/words.ts'

/** The state of a request or of access, and beside it whether it is an emergency. */
export function StateBadges({ state, isEmergency }: { state: State; isEmergency: boolean }): ReactNode {
  return (
    <span className="flex flex-wrap gap-1">
      <Badge tone={state.tone} icon={state.icon}>
        {state.word}
      </Badge>
      {isEmergency && <EmergencyBadge />}
    </span>
  )
}

export function EmergencyBadge(): ReactNode {
  const words = useWords().access
  return (
    <Badge tone="emergency" icon="siren">
      {words.emergency}
    </Badge>
  )
}
