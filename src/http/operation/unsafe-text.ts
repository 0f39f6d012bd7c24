import type { Fault } from '../../kernel/errors.ts';
import { MAX_FAULTS } from '../../kernel/validation/form.ts';

/** The state of the walk in one container. */
type Frame = {
  readonly container: Record<string, unknown> | readonly unknown[];
  /** Undefined for an array. */
  readonly keys: readonly string[] | undefined;
  next: number;
  readonly parent: Frame | undefined;
  readonly keyInParent: string | number;
  /** The number of enclosing containers. */
  readonly depth: number;
  /** The frame whose name is used instead, because this one is too deep. */
  readonly namedBy: Frame | undefined;
};

/** Deeper than any field. Faults below this depth are reported under the name of the field at this depth. */
const MAX_NAME_DEPTH = 10;

/**
 * Returns a fault for each text that PostgreSQL cannot store: texts with NUL characters or unpaired surrogates. The
 * walk is not recursive, because a body may be nested deeper than the stack, and it builds only the names of faulty
 * texts, because building every name took ten times as long as parsing.
 */
export function unsafeText(body: unknown): Fault[] {
  const faults: Fault[] = [];
  let frame = typeof body === 'object' && body !== null ? frameOf(body, undefined, '') : undefined;
  while (frame && faults.length < MAX_FAULTS) {
    const { container, keys } = frame;
    const i = frame.next++;
    if (i >= (keys ?? (container as readonly unknown[])).length) {
      frame = frame.parent;
      continue;
    }
    const key = keys ? (keys[i] as string) : i;
    const value = (container as Record<string | number, unknown>)[key];
    if (typeof key === 'string' && !isStorable(key)) faults.push(fault(nameOf(frame) || 'body'));
    else if (typeof value === 'string' && !isStorable(value)) faults.push(fault(nameOf(frame, key)));
    else if (typeof value === 'object' && value !== null && !isEmptyList(value)) frame = frameOf(value, frame, key);
  }
  return faults;
}

function frameOf(container: object, parent: Frame | undefined, keyInParent: string | number): Frame {
  const depth = parent ? parent.depth + 1 : 0;
  return {
    container: container as Frame['container'],
    keys: Array.isArray(container) ? undefined : Object.keys(container),
    next: 0,
    parent,
    keyInParent,
    depth,
    namedBy: depth > MAX_NAME_DEPTH ? (parent?.namedBy ?? parent) : undefined,
  };
}

/** Returns the name of the container, or of its value under the key: `items[0].description`. */
function nameOf(frame: Frame, key?: string | number): string {
  if (frame.namedBy) return nameOf(frame.namedBy);
  const path = key === undefined || frame.depth === MAX_NAME_DEPTH ? [] : [key];
  for (let at = frame; at.parent; at = at.parent) path.unshift(at.keyInParent);
  return path.reduce<string>(
    (name, part) => (typeof part === 'number' ? `${name}[${part}]` : name ? `${name}.${part}` : part),
    '',
  );
}

/** Empty lists are skipped, because a body may have hundreds of thousands of them. */
const isEmptyList = (value: object) => Array.isArray(value) && value.length === 0;

const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed();

const fault = (field: string): Fault => ({
  field,
  code: 'invalid_character',
  message: 'must not contain NUL characters or unpaired surrogates',
});
