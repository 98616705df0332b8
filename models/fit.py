"""Fits the token vectors so that their sum lies where the teachers put the sentence."""
import numpy as np
import torch


class Space:
    """The first principal components of the teachers' sentence vectors, each teacher centred and given its share.

    Tokens are projected with the same axes, so a token that no sentence contains still points the right way."""

    def __init__(self, sentences, shares, dims):
        self.means = [s.mean(0) for s in sentences]
        self.scales = [w / np.sqrt(((s - m) ** 2).sum(1).mean()) for s, m, w in zip(sentences, self.means, shares)]
        joined = self.join(sentences, self.means)
        _, vectors = np.linalg.eigh(joined.T @ joined)
        self.axes = vectors[:, ::-1][:, :dims].astype(np.float32)
        self.targets = joined @ self.axes

    def join(self, parts, means):
        return np.hstack([(p - m) * s for p, m, s in zip(parts, means, self.scales)]).astype(np.float32)

    def tokens(self, parts):
        """Tokens have a centre of their own: what the teachers say of any lone word."""
        return self.join(parts, [p.mean(0) for p in parts]) @ self.axes


def sif(count, a=1e-4):
    """Weights that make frequent tokens short. count: in order of the vocabulary, Zipf's law by rank."""
    rank = np.arange(count) + 2.0
    share = 1 / rank / np.sum(1 / rank)
    return (a / (a + share)).astype(np.float32)


def bags(rows):
    flat = torch.tensor([i for r in rows for i in r], dtype=torch.long)
    starts = torch.tensor(np.cumsum([0] + [len(r) for r in rows])[:-1], dtype=torch.long)
    return flat, starts


def fit(start, rows, targets, epochs=6, batch=512, rate=2e-3, contrast=1.0, temperature=0.05, seed=1, report=print):
    """start: token vectors; rows: token ids by sentence; targets: vectors by sentence. Returns token vectors and how often each was seen.

    Two losses: the cosine to the target, and, within a batch, the distribution of likeness to the other sentences (at a low temperature:
    who is nearest matters more than how far the far ones are)."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    table = torch.nn.EmbeddingBag.from_pretrained(torch.tensor(start, dtype=torch.float32), freeze=False, mode="sum", sparse=True)
    optimiser = torch.optim.SparseAdam(list(table.parameters()), lr=rate)
    goal = torch.nn.functional.normalize(torch.tensor(targets, dtype=torch.float32), dim=1)
    steps = epochs * (len(rows) // batch)
    step = 0
    for epoch in range(epochs):
        order, sums = rng.permutation(len(rows)), [0.0, 0.0]
        for at in range(0, len(rows) - batch + 1, batch):
            part = order[at : at + batch]
            chosen = [rows[i] for i in part]
            out = torch.nn.functional.normalize(table(*bags(chosen)), dim=1)
            want = goal[part]
            near = 1 - (out * want).sum(1).mean()
            loss = near
            if contrast:
                own = torch.eye(len(part), dtype=torch.bool)
                have = (out @ out.T / temperature).masked_fill(own, -1e4).log_softmax(1)
                like = (want @ want.T / temperature).masked_fill(own, -1e4).softmax(1)
                apart = torch.nn.functional.kl_div(have, like, reduction="batchmean")
                loss = near + contrast * apart
                sums[1] += apart.item()
            optimiser.param_groups[0]["lr"] = rate * max(0.02, 1 - step / steps)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            sums[0] += near.item()
            step += 1
        report(f"epoch {epoch + 1}: 1-cos {sums[0] / (len(rows) // batch):.4f} likeness {sums[1] / (len(rows) // batch):.4f}")
    seen = np.bincount([i for r in rows for i in r], minlength=len(start))
    return table.weight.detach().numpy(), seen


def carry_over(start, fitted, seen, enough=5):
    """Tokens that were seen too little get the change that the others went through on average (a linear map), not their own."""
    known = seen >= enough
    weight = np.sqrt(np.minimum(seen[known], 100)).astype(np.float32)[:, None]
    x, y = start[known] * weight, fitted[known] * weight
    ridge = 1e-3 * np.trace(x.T @ x) / x.shape[1] * np.eye(x.shape[1])
    moved = start @ np.linalg.solve(x.T @ x + ridge, x.T @ y).astype(np.float32)
    own = np.minimum(seen / enough, 1)[:, None].astype(np.float32)
    return own * fitted + (1 - own) * moved
