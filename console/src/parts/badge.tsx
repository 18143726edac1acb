import {
  Check,
  Clock,
  FlaskConical,
  Hand,
  LoaderCircle,
  type LucideIcon,
  Minus,
  Siren,
  TriangleAlert,
  X,
} from 'lucide-react'
import type { ReactNode } from 'react'

const tones = {
  wait: 'bg-wait-tint text-wait',
  info: 'bg-info-tint text-info',
  ok: 'bg-ok-tint text-ok',
  bad: 'bg-bad-tint text-bad',
  alarm: 'bg-bad text-on-bad',
  emergency: 'bg-emergency-tint text-emergency',
  neutral: 'bg-sunken text-text-2',
  rehearsal: 'border border-dashed border-control text-text-2',
} as const

const icons = {
  clock: Clock,
  loader: LoaderCircle,
  check: Check,
  minus: Minus,
  x: X,
  alert: TriangleAlert,
  hand: Hand,
  siren: Siren,
  flask: FlaskConical,
} as const satisfies Record<string, LucideIcon>

export type Tone = keyof typeof tones
export type BadgeIcon = keyof typeof icons

/** The state of something: an icon and a word, so that color alone never says it. */
export function Badge({ tone, icon, children }: { tone: Tone; icon: BadgeIcon; children: ReactNode }): ReactNode {
  const Icon = icons[icon]
  return (
    <span
      data-edge
      className={`inline-flex h-5 items-center gap-1 rounded-badge px-2 text-meta font-medium whitespace-nowrap ${tones[tone]}`}
    >
      <Icon size={14} strokeWidth={1.75} aria-hidden="true" />
      {children}
    </span>
  )
}
