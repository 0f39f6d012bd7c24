/**
 * What was typed and not yet sent, in the storage of the tab: a reload restores it, another tab does not see it, and
 * signing out removes it.
 */

const PREFIX = 'draft:';
const OWNER = 'draft-owner';
const MAX_DRAFTS = 20;
/** A draft has its values up to three times: as they are, as they were, and as they were sent. */
const MAX_DRAFT_LENGTH = 150_000;

/** Removes the drafts of another person who used this tab before. */
export function keepDraftsOf(userId: string): void {
  if (sessionStorage.getItem(OWNER) !== userId) clearDrafts();
  sessionStorage.setItem(OWNER, userId);
}

export function readDraft<Draft>(key: string): Draft | undefined {
  const stored = sessionStorage.getItem(PREFIX + key);
  return stored === null ? undefined : (JSON.parse(stored) as Draft);
}

export function writeDraft(key: string, draft: unknown): void {
  const text = JSON.stringify(draft);
  if (text.length > MAX_DRAFT_LENGTH) return;
  const others = draftKeys().filter((other) => other !== PREFIX + key);
  if (others.length >= MAX_DRAFTS && others[0]) sessionStorage.removeItem(others[0]);
  sessionStorage.setItem(PREFIX + key, text);
}

export const removeDraft = (key: string): void => sessionStorage.removeItem(PREFIX + key);

export function clearDrafts(): void {
  for (const key of draftKeys()) sessionStorage.removeItem(key);
}

const draftKeys = (): string[] => Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));
