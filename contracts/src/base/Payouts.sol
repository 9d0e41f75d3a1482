// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {IUSDC} from "../interfaces/IUSDC.sol";

/// @title Payouts that do not fail when the token refuses the recipient
/// @notice USDC refuses transfers to blocked addresses. Such a payout must not revert the payouts of everybody else, so it
/// becomes a claimable balance.
/// @dev A caller cannot force a deferred payout by sending too little gas: crediting the balance needs more than the 1/64 of
/// the gas that remains after the failed transfer.
abstract contract Payouts {
    using SafeCast for uint256;
    using SafeERC20 for IUSDC;

    /// @notice The token in which everything is paid: USDC, 6 decimals.
    IUSDC public immutable TOKEN;

    /// @notice The deferred payouts of an account that it has not claimed yet, in USDC base units.
    mapping(address account => uint256) public claimable;
    /// @notice The sum of all claimable balances, in USDC base units.
    /// @dev 64 bits (18 trillion USDC), and declared last with `_used`, so that the first variables of a derived contract share its storage
    /// word.
    uint64 public totalClaimable;
    /// @dev Keeps that word from ever being zero, so that no purchase pays the 17,100 gas of filling it.
    bool private _used = true;

    /// @notice The token refused a payout; the account can claim it later.
    /// @param account Who was to be paid
    /// @param amount What was added to the account's claimable balance, in USDC base units
    event PayoutDeferred(address indexed account, uint256 amount);
    /// @notice The claimable balance of an account was paid.
    /// @param account Who was paid
    /// @param amount The whole claimable balance, in USDC base units
    event PayoutClaimed(address indexed account, uint256 amount);

    /// @notice `claim` was called for an account without a claimable balance.
    /// @dev Nothing is owed to the account here. Read `claimable(account)` before the next call; the other contract that pays
    /// out (escrow or router) has balances of its own.
    /// @param account The account named in the call
    error NothingToClaim(address account);

    /// @param token USDC
    constructor(IUSDC token) {
        TOKEN = token;
    }

    /// @notice Pays an account its claimable balance. Anyone may call it; the money goes to the account and nowhere else.
    /// @param account Whose balance to pay
    /// @return amount What was paid, in USDC base units, never zero
    function claim(address account) external returns (uint256 amount) {
        amount = claimable[account];
        if (amount == 0) revert NothingToClaim(account);
        claimable[account] = 0;
        totalClaimable -= amount.toUint64();
        emit PayoutClaimed(account, amount);
        TOKEN.safeTransfer(account, amount);
    }

    /// @dev Pays now, or credits the account if the token refuses. Does nothing for an amount of zero.
    function _pay(address account, uint256 amount) internal {
        if (amount == 0 || TOKEN.trySafeTransfer(account, amount)) return;
        claimable[account] += amount;
        totalClaimable += amount.toUint64();
        emit PayoutDeferred(account, amount);
    }
}
