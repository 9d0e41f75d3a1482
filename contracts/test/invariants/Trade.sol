// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SplitRouter} from "../../src/SplitRouter.sol";
import {Surroundings} from "./Surroundings.sol";

/// @notice Buying, in every way and disorder: settled, settled by others, in batches with duplicates, front-run, cancelled, signed twice,
/// paid by plain transfer. The settler is honest: it finishes only what it has seen arrive, and
/// permits only that to be taken back.
abstract contract Trade is Surroundings {
    // ---- settling

    function settleOne(uint256 seed) external turn {
        settleAs(Action.Settle, settler, aPurchase(seed, _kind(seed)));
    }

    function settleCommitted(uint256 seed) external turn {
        settleAs(Action.SettleCommitted, anAccount(seed), aPurchase(seed, _kind(seed)));
    }

    /// @dev Old payments again: none may be taken twice.
    function settleAgain(uint256 seed) external turn {
        if (signed.length == 0) return;
        settleAs(Action.Settle, settler, signed[roll(seed, "signed", signed.length)]);
    }

    /// @dev Fresh purchases, one of them twice, an old one, and one that asks for too much cashback.
    function settleBatch(uint256 seed) external turn {
        SplitRouter.Purchase[] memory batch = new SplitRouter.Purchase[](5);
        batch[0] = aPurchase(seed, SplitRouter.AuthorizationType.Receive);
        batch[1] = aPurchase(roll(seed, "second", type(uint256).max), SplitRouter.AuthorizationType.Transfer);
        batch[2] = batch[roll(seed, "twice", 2)];
        batch[3] = signed[roll(seed, "signed", signed.length)];
        batch[4] = aPurchase(roll(seed, "third", type(uint256).max), SplitRouter.AuthorizationType.Receive);
        batch[4].attribution.cashbackOfCommissionBps = 4_001;
        bool trusted = roll(seed, "trusted", 3) != 0;

        uint256 before = escrow.lastEscrowId();
        vm.prank(trusted ? settler : anAttacker(seed));
        router.settleBatch(batch);
        uint256 sales;
        for (uint256 i = 0; i < batch.length; ++i) {
            if (!canSettle(batch[i], trusted)) {
                ++refusals[uint256(Action.SettleInBatch)];
                continue;
            }
            ++sales;
            ++successes[uint256(Action.SettleInBatch)];
            bookPurchase(batch[i]);
        }
        if (escrow.lastEscrowId() != before + sales) surprise(Action.SettleInBatch, "made another number of sales");
    }

    // ---- authorisations that others submit, or nobody may

    /// @dev Somebody takes a `Transfer` authorisation from the wire and submits it to the token first.
    function frontRun(uint256 seed) external turn {
        SplitRouter.Purchase memory purchase = aPurchase(seed, SplitRouter.AuthorizationType.Transfer);
        // Before the money is here, no other money may stand in for it.
        act(Action.Finish, settler, address(router), abi.encodeCall(router.finish, (purchase)), false);
        act(Action.TakeBack, stranger, address(router), takeBackCall(purchase.authorization), false);
        if (_frontRun(anAttacker(seed), purchase)) settleAs(Action.Settle, settler, purchase);
    }

    /// @dev The payer cancels. To the token the nonce now looks used; an honest settler, who looks for the transfer, finds none.
    function cancel(uint256 seed) external turn {
        SplitRouter.Purchase memory purchase = aPurchase(seed, _kind(seed));
        address payer = purchase.authorization.from;
        bytes32 nonce = purchase.authorization.nonce;
        bytes32 structHash = keccak256(abi.encode(usdc.CANCEL_AUTHORIZATION_TYPEHASH(), payer, nonce));
        bytes memory signature = sign(walletOf(payer), typedDataHash(usdc.DOMAIN_SEPARATOR(), structHash));
        bytes memory data =
            abi.encodeWithSignature("cancelAuthorization(address,bytes32,bytes)", payer, nonce, signature);
        if (!act(Action.Cancel, payer, address(usdc), data, !usdc.paused())) return;
        consumed[payer][nonce] = true;
        cancelled[payer][nonce] = true;
        settleAs(Action.Settle, settler, purchase);
    }

    /// @dev The payer signs both kinds with one nonce, for different amounts; whichever comes first is the payment.
    function signBothKinds(uint256 seed) external turn {
        SplitRouter.Purchase memory first = aPurchase(seed, SplitRouter.AuthorizationType.Receive);
        SplitRouter.Purchase memory second = signPurchase(
            walletOf(first.authorization.from),
            aPrice(roll(seed, "second", type(uint256).max), first.attribution),
            SplitRouter.AuthorizationType.Transfer,
            first.attribution,
            first.authorization.nonce
        );
        signed.push(second);
        uint256 order = roll(seed, "order", 3);
        if (order == 0) {
            _frontRun(anAttacker(seed), second);
            settleAs(Action.Settle, settler, first);
        } else if (order == 1) {
            if (!settleAs(Action.Settle, settler, first)) return;
            _frontRun(anAttacker(seed), second);
            act(Action.Finish, settler, address(router), abi.encodeCall(router.finish, (second)), false);
            act(Action.TakeBack, stranger, address(router), takeBackCall(second.authorization), false);
        } else {
            settleAs(Action.Settle, settler, second);
            settleAs(Action.Settle, settler, first);
        }
    }

    function finish(uint256 seed) external turn {
        if (arrived.length == 0) return;
        // The newest one mostly: the others can be finished no more.
        bool newest = roll(seed, "newest", 4) != 0;
        Arrived storage payment = arrived[newest ? arrived.length - 1 : preferOpen(seed, arrived.length, true)];
        SplitRouter.Purchase memory purchase = payment.purchase;
        SplitRouter.Authorization memory z = purchase.authorization;
        bool expected = !payment.done && clock < z.validBefore + 1 hours && canSplit(z.from, z.value, purchase.attribution);
        if (!act(Action.Finish, settler, address(router), abi.encodeCall(router.finish, (purchase)), expected)) return;
        payment.done = true;
        strays -= z.value;
        bookSale(z.from, z.nonce, z.value, purchase.attribution);
    }

    function takeBackOf(uint256 seed) external turn {
        if (arrived.length == 0 || roll(seed, "rarely", 2) == 0) return;
        Arrived storage payment = arrived[preferOpen(seed, arrived.length, true)];
        takeArrivedBack(payment);
        takeArrivedBack(payment);
    }

    // ---- plain transfers

    function deposit(uint256 seed) external turn {
        uint256 i = roll(seed, "buyer", buyers.length);
        SplitRouter.Attribution memory a = anAttribution(seed, i);
        SplitRouter.Charge memory charge;
        charge.payer = buyers[i].addr;
        charge.value = aPrice(seed, a);
        charge.txHash = keccak256(abi.encode("transaction", deposits.length));
        charge.signature = signCharge(buyers[i], charge, a.buyerAgentId);
        bool expected = !usdc.paused() && !usdc.isBlacklisted(charge.payer);
        bytes memory data = abi.encodeCall(usdc.transfer, (address(router), charge.value));
        if (!act(Action.Deposit, charge.payer, address(usdc), data, expected)) return;
        wealth[charge.payer] -= charge.value;
        strays += charge.value;
        Deposited storage made = deposits.push();
        made.charge = charge;
        made.attribution = a;
    }

    function splitDeposit(uint256 seed) external turn {
        if (deposits.length == 0) return;
        Deposited storage made = deposits[preferOpen(seed, deposits.length, false)];
        SplitRouter.Charge memory charge = made.charge;
        bool expected = !made.done && canSplit(charge.payer, charge.value, made.attribution);
        bytes memory data = abi.encodeCall(router.splitDeposit, (charge, made.attribution));
        if (!act(Action.SplitDeposit, settler, address(router), data, expected)) return;
        made.done = true;
        strays -= charge.value;
        bookSale(charge.payer, router.chargeNonce(charge.txHash), charge.value, made.attribution);
    }

    function takeBackDepositOf(uint256 seed) external turn {
        if (deposits.length == 0 || roll(seed, "rarely", 2) == 0) return;
        Deposited storage made = deposits[preferOpen(seed, deposits.length, false)];
        takeDepositBack(made);
        takeDepositBack(made);
    }

    // ---- inside

    function settleAs(Action action, address caller, SplitRouter.Purchase memory purchase) internal returns (bool ok) {
        bool expected = canSettle(purchase, caller == settler);
        ok = act(action, caller, address(router), abi.encodeCall(router.settle, (purchase)), expected);
        if (ok) bookPurchase(purchase);
    }

    function bookPurchase(SplitRouter.Purchase memory purchase) internal {
        SplitRouter.Authorization memory z = purchase.authorization;
        consumed[z.from][z.nonce] = true;
        wealth[z.from] -= z.value;
        bookSale(z.from, z.nonce, z.value, purchase.attribution);
    }

    function takeBackCall(SplitRouter.Authorization memory z) internal view returns (bytes memory) {
        bytes memory permission = signPermission(settlerWallet, z.from, z.nonce, z.value, clock);
        return abi.encodeCall(router.takeBack, (z, clock, permission));
    }

    function takeArrivedBack(Arrived storage payment) internal {
        SplitRouter.Authorization memory z = payment.purchase.authorization;
        bool expected = !payment.done && !escrow.paused();
        if (!act(Action.TakeBack, stranger, address(router), takeBackCall(z), expected)) return;
        payment.done = true;
        strays -= z.value;
        wealth[z.from] += z.value;
    }

    function takeDepositBack(Deposited storage made) internal {
        SplitRouter.Charge memory charge = made.charge;
        bytes memory permission =
            signPermission(settlerWallet, charge.payer, router.chargeNonce(charge.txHash), charge.value, clock);
        bytes memory data =
            abi.encodeCall(router.takeBackDeposit, (charge, made.attribution.buyerAgentId, clock, permission));
        bool expected = !made.done && !escrow.paused();
        if (!act(Action.TakeBackDeposit, stranger, address(router), data, expected)) return;
        made.done = true;
        strays -= made.charge.value;
        wealth[made.charge.payer] += made.charge.value;
    }

    function _frontRun(address caller, SplitRouter.Purchase memory purchase) private returns (bool) {
        SplitRouter.Authorization memory z = purchase.authorization;
        bytes memory data = abi.encodeWithSignature(
            "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
            z.from,
            address(router),
            z.value,
            z.validAfter,
            z.validBefore,
            z.nonce,
            z.signature
        );
        bool expected = !consumed[z.from][z.nonce] && !usdc.paused() && !usdc.isBlacklisted(z.from);
        if (!act(Action.FrontRun, caller, address(usdc), data, expected)) return false;
        consumed[z.from][z.nonce] = true;
        wealth[z.from] -= z.value;
        strays += z.value;
        arrived.push().purchase = purchase;
        return true;
    }

    function _kind(uint256 seed) private pure returns (SplitRouter.AuthorizationType) {
        return SplitRouter.AuthorizationType(roll(seed, "kind", 2));
    }

    /// @dev Mostly one that still waits; now and then one that is done, to see it refused.
    function preferOpen(uint256 seed, uint256 length, bool ofArrived) internal view returns (uint256 i) {
        i = roll(seed, "payment", length);
        if (roll(seed, "any", 4) == 0) return i;
        for (uint256 k = 0; k < length; ++k) {
            uint256 candidate = (i + k) % length;
            if (!(ofArrived ? arrived[candidate].done : deposits[candidate].done)) return candidate;
        }
    }
}
