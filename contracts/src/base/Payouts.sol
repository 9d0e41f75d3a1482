// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {IUSDC} from "../interfaces/IUSDC.sol";

/// @title Paying people whom the token may refuse
/// @notice USDC refuses transfers to blocked addresses. Such a payout must not undo everybody else's, so it becomes a claimable balance.
/// @dev A transfer cannot be made to fail by sending too little gas: crediting the balance needs more gas than the 1/64 left over then.
abstract contract Payouts {
    using SafeCast for uint256;
    using SafeERC20 for IUSDC;

    /// @notice The token everything is paid in.
    IUSDC public immutable TOKEN;

    /// @notice What an account can claim here.
    mapping(address account => uint256) public claimable;
    /// @notice The sum of all claimable balances.
    /// @dev Narrow (18 trillion USDC), and declared last, so that an heir's first variables share its storage word.
    uint64 public totalClaimable;

    /// @notice The token refused a payout; it can be claimed later.
    event PayoutDeferred(address indexed account, uint256 amount);
    /// @notice A deferred payout was paid.
    event PayoutClaimed(address indexed account, uint256 amount);

    error NothingToClaim(address account);

    constructor(IUSDC token) {
        TOKEN = token;
    }

    /// @notice Pays an account what it can claim. Anyone may call it; the money goes to the account and nowhere else.
    /// @param account Whose balance to pay
    /// @return amount What was paid
    function claim(address account) external returns (uint256 amount) {
        amount = claimable[account];
        if (amount == 0) revert NothingToClaim(account);
        claimable[account] = 0;
        totalClaimable -= amount.toUint64();
        emit PayoutClaimed(account, amount);
        TOKEN.safeTransfer(account, amount);
    }

    /// @dev Pays now, or credits the account if the token refuses.
    function _pay(address account, uint256 amount) internal {
        if (amount == 0 || TOKEN.trySafeTransfer(account, amount)) return;
        claimable[account] += amount;
        totalClaimable += amount.toUint64();
        emit PayoutDeferred(account, amount);
    }
}
