import { type KeyboardEvent, type ReactNode, useEffect, useId, useState } from 'react'
import { FailureText } from '../parts/english-text.tsx'
import { box } from '../parts/field.tsx'
import { Modal } from '../parts/modal.tsx'
import { useWords } from '../words/words.ts'
import { movedTo } from './go-matches.ts'
import { type Group, type Option, useGoOptions } from './go-options.tsx'

/** One field that finds pages, what the person has and waits for, and what they may request. */
export function GoAnywhere({ close }: { close: () => void }): ReactNode {
  const words = useWords().go
  const [text, setText] = useState('')
  const searched = text.trim()
  // Not deferred: Enter takes what the text that was typed finds, never what an earlier one found.
  const found = useGoOptions(searched)
  const options = found.groups.flatMap((group) => group.options)
  const [wanted, setWanted] = useState(0)
  const active = Math.min(wanted, options.length - 1)
  // What a person searched for who pressed Enter before anything was found.
  const [hurried, setHurried] = useState<string>()
  const id = useId()

  const take = (option: Option) => {
    close()
    option.go().catch(() => undefined)
  }
  const first = hurried === searched && !found.isSearching ? options[0] : undefined
  useEffect(() => {
    if (first === undefined) return
    setHurried(undefined)
    close()
    first.go().catch(() => undefined)
  }, [first, close])
  useEffect(() => {
    document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, active])

  const onKey = (event: KeyboardEvent) => {
    const next = movedTo(active, options.length, event.key)
    if (next !== undefined) {
      event.preventDefault()
      return setWanted(next)
    }
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
    event.preventDefault()
    const chosen = options[active]
    if (chosen !== undefined) take(chosen)
    else setHurried(searched)
  }
  return (
    <Modal title={words.title} close={close}>
      <div className="grid gap-1">
        <label htmlFor={id} className="font-medium">
          {words.label}
        </label>
        <input
          id={id}
          type="text"
          role="combobox"
          autoComplete="off"
          aria-autocomplete="list"
          aria-expanded={options.length > 0}
          aria-controls={options.length > 0 ? `${id}-list` : undefined}
          aria-activedescendant={options.length > 0 ? `${id}-${active}` : undefined}
          value={text}
          onChange={({ target }) => {
            setText(target.value)
            setWanted(0)
          }}
          onKeyDown={onKey}
          className={`${box} h-10 touch:h-11`}
        />
      </div>
      {/* Of one height, so that nothing jumps while a person types. */}
      <div className="grid h-[min(360px,50dvh)] content-start gap-3">
        {options.length > 0 && <Groups id={id} groups={found.groups} active={active} take={take} />}
        <State {...found} text={searched} count={options.length} />
      </div>
      <p className="hidden text-meta text-text-2 lg:block">{words.keys}</p>
    </Modal>
  )
}

type GroupsProps = { id: string; groups: readonly Group[]; active: number; take: (option: Option) => void }

function Groups({ id, groups, active, take }: GroupsProps): ReactNode {
  const words = useWords().go
  let place = 0
  return (
    <div
      id={`${id}-list`}
      role="listbox"
      aria-label={words.results}
      className="grid max-h-full content-start gap-3 overflow-y-auto overscroll-contain"
    >
      {groups.map(({ title, options }) => (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a listbox
        <div key={title} role="group" aria-label={title}>
          <p aria-hidden="true" className="px-3 py-1 text-meta font-medium text-text-2">
            {title}
          </p>
          {options.map((option) => {
            const nth = place
            place += 1
            return (
              <Row
                key={option.key}
                id={`${id}-${nth}`}
                option={option}
                isActive={nth === active}
                take={() => take(option)}
              />
            )
          })}
        </div>
      ))}
    </div>
  )
}

type RowProps = { id: string; option: Option; isActive: boolean; take: () => void }

function Row({ id, option: { name, about }, isActive, take }: RowProps): ReactNode {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active option
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys
    <div
      id={id}
      role="option"
      aria-selected={isActive}
      onClick={take}
      className="flex cursor-pointer items-center justify-between gap-4 rounded-control px-3 py-1.5 hover:bg-sunken touch:py-3 aria-selected:bg-accent-tint aria-selected:forced-colors:outline-2"
    >
      <bdi className="min-w-0 wrap-anywhere">{name}</bdi>
      {about !== undefined && <span className="shrink-0 text-meta text-text-2">{about}</span>}
    </div>
  )
}

type StateProps = { isSearching: boolean; error: Error | null; text: string; count: number }

/** What the list cannot say: that more is to come, that there is nothing, or why. How many there are is read out. */
function State({ isSearching, error, text, count }: StateProps): ReactNode {
  const { go, lists } = useWords()
  return (
    <div role="status" className="px-3 text-text-2">
      {error !== null ? (
        <FailureText error={error} />
      ) : isSearching ? (
        lists.searching
      ) : count === 0 ? (
        go.nothing(text)
      ) : (
        <span className="sr-only">{go.found(count)}</span>
      )}
    </div>
  )
}
