/** Host names by RFC 1123, as `URL` gives them: in lower case, other scripts in Punycode. Pure. */

const MAX_NAME_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;
const PUBLIC_LABEL = /^[a-z0-9-]+$/;
// Names in a network of one's own, such as those of containers, often have underscores.
const PRIVATE_LABEL = /^[a-z0-9_-]+$/;

/**
 * Whether a name server can be asked for it. No public name is a single label, or has an underscore: no certificate is
 * issued for either. A dot at the end means the same name.
 */
export function isHostName(hostname: string, { privateNames }: { privateNames: boolean }): boolean {
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  if (name.length > MAX_NAME_LENGTH) return false;
  const labels = name.split('.');
  if (labels.length === 1 && !privateNames) return false;
  return labels.every((label) => isLabel(label, privateNames ? PRIVATE_LABEL : PUBLIC_LABEL));
}

/** An empty label does not match the characters either. */
const isLabel = (label: string, characters: RegExp): boolean =>
  label.length <= MAX_LABEL_LENGTH && characters.test(label) && !label.startsWith('-') && !label.endsWith('-');
